// Operations that a release of MSCCL++ does not have.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan/releases.hpp"

namespace forestcoll::audit {

/// Adds a finding for each of them. Cost: O(operations).
void check_release(const PlanFile& plan, const PlanRelease& release, Findings& findings);

}  // namespace forestcoll::audit
