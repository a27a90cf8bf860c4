// What options leave to the fabric, the format and the target.
#pragma once

#include "forestcoll/compile.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::choose {

/// `options` with the boxes of the fabric, the protocol of the schedule, who says how many trees
/// there are, how many threadblocks, and for plans the release of MSCCL++; a demand of equal
/// amounts as a program becomes one of blocks; the same again where it is given its own result.
/// Errors: S03
/// (`optimal` parts), S04 (trees of what has paths, or flows of what has trees), T06 (a schedule
/// for a fabric with relays, XML of a scatter or gather), T07 (a plan for no target), T08 (see
/// `choose_protocol`), T09 (unequal amounts as a program).
[[nodiscard]] Expected<CompileOptions> settle(const Fabric& fabric, CompileOptions options);

/// The runtime that `verify` goes by. REQUIRES: `options` are settled.
[[nodiscard]] VerifyOptions runtime_of(const CompileOptions& options);

/// What a plan has to keep to.
[[nodiscard]] PlanOptions plan_options(const CompileOptions& options);

}  // namespace forestcoll::choose
