// The rules that a program must keep before it makes sense to run it.
#pragma once

#include <cstdint>

#include "audit/common/findings.hpp"
#include "audit/common/program.hpp"
#include "audit/msccl/target_rules.hpp"

namespace forestcoll::audit {

/// Checks numbering, limits, peers and channels, bounds, dependencies, nop steps, `re` runs and
/// sizes of buffers. Puts GPUs and threadblocks in order of their ids, so that afterwards, unless
/// `findings.blocked()`, gpus[r].threadblocks[t] is threadblock t of rank r.
/// `sms`: threadblocks that a GPU holds at once. Cost: linear, but for sorting.
void check_structure(Program& program, const TargetRules& target, std::int32_t sms,
                     Findings& findings);

}  // namespace forestcoll::audit
