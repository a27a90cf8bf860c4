// What a right plan asks of its calls, and the executor does not check.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/plan/file.hpp"
#include "audit/plan/releases.hpp"

namespace forestcoll::audit {

/// The largest message, in bytes, that stays right: the executor counts the bytes of each buffer
/// with 32 bits. REQUIRES: check_plan_structure found nothing that blocks. Cost: O(GPUs).
[[nodiscard]] std::uint64_t largest_message(const PlanFile& plan);

/// The conditions, each a clause that goes on after "only if": messages that are too large for the
/// executor's offsets and not kept out by max_message_size; input and output that port channels
/// send from; operations that older releases do not have, and what they leave unchecked; and what
/// packets, groups, switches and reuse_resources take for granted. Cost: O(operations).
[[nodiscard]] std::vector<std::string> plan_conditions(const PlanFile& plan,
                                                       const PlanRelease& release);

}  // namespace forestcoll::audit
