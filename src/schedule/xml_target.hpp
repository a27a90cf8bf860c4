// Targets that load MSCCL XML.
#pragma once

#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::schedule {

/// The target of that name. Error T07: there is none, or it loads plans of MSCCL++.
[[nodiscard]] Expected<const TargetLimits*> xml_target(std::string_view name);

}  // namespace forestcoll::schedule
