// What options leave to the fabric.
#pragma once

#include "forestcoll/compile.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::choose {

/// `options` with the boxes of the fabric, the protocol of the schedule, and who says how many
/// trees there are; the same again where it is given its own result. Errors: T06 (a schedule for a
/// fabric with relays), T08 (see `choose_protocol`).
[[nodiscard]] Expected<CompileOptions> settle(const Fabric& fabric, CompileOptions options);

/// T06: GPUs outside of the process group run no programs.
[[nodiscard]] Diagnostic relays_in_schedule();

/// What a plan has to keep to.
[[nodiscard]] PlanOptions plan_options(const CompileOptions& options);

}  // namespace forestcoll::choose
