// What options leave to the fabric.
#pragma once

#include "forestcoll/compile.hpp"
#include "forestcoll/mscclpp.hpp"

namespace forestcoll::choose {

/// `options` with the boxes of the fabric and the protocol of the schedule; the same again where it
/// is given its own result. Error T08: see `choose_protocol`.
[[nodiscard]] Expected<CompileOptions> settle(const Fabric& fabric, CompileOptions options);

/// What a plan has to keep to.
[[nodiscard]] PlanOptions plan_options(const CompileOptions& options);

}  // namespace forestcoll::choose
