// What a plan of MSCCL++ calls collectives, channels and operations.
#pragma once

#include <string_view>

#include "forestcoll/collective.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::emit {

[[nodiscard]] std::string_view name_of(Collective collective);
[[nodiscard]] std::string_view name_of(PlanChannel channel);
[[nodiscard]] std::string_view name_of(PlanOperation::Kind kind);
/// Of the channels that the operation names or reaches by; empty: it has none.
[[nodiscard]] std::string_view channel_type_of(const PlanOperation& operation);

}  // namespace forestcoll::emit
