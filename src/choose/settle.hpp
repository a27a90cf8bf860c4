// What options leave to the fabric, the format and the target.
#pragma once

#include <cstdint>
#include <string_view>

#include "forestcoll/compile.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::choose {

/// `options` with the boxes of the fabric, the protocol of the schedule, who says how many trees
/// there are, how many threadblocks, and for plans the release of MSCCL++; the same again where it
/// is given its own result. Errors: T06 (a schedule for a fabric with relays), T07 (a plan for no
/// target), T08 (see `choose_protocol`).
[[nodiscard]] Expected<CompileOptions> settle(const Fabric& fabric, CompileOptions options);

/// Where nobody says how many threadblocks a GPU holds (`sms` is 0): as many as the target's. No
/// rank has more.
void settle_threadblocks(std::int32_t& sms, std::string_view target,
                         std::int32_t& max_threadblocks);

/// The runtime that `verify` goes by. REQUIRES: `options` are settled.
[[nodiscard]] VerifyOptions runtime_of(const CompileOptions& options);

/// T06: GPUs outside of the process group run no programs.
[[nodiscard]] Diagnostic relays_in_schedule();

/// What a plan has to keep to.
[[nodiscard]] PlanOptions plan_options(const CompileOptions& options);

}  // namespace forestcoll::choose
