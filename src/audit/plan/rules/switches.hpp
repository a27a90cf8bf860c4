// Switch channels: a buffer of every rank of a group, read as their sum and written all at once.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/plan/file.hpp"

namespace forestcoll::audit {

/// Checks that the ranks of every group know it, of the same buffer, and that all can set theirs
/// up: each does so in the order of its list, and waits for the others. Cost: O(ranks in all groups
/// · log).
void check_switch_groups(const PlanFile& plan, Findings& findings);

}  // namespace forestcoll::audit
