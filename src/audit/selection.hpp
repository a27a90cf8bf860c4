// Whether, and for which calls, a runtime would select a file.
#pragma once

#include <string>

#include "audit/findings.hpp"
#include "audit/program.hpp"
#include "audit/target_rules.hpp"

namespace forestcoll::audit {

/// "element counts per rank that are multiples of 16, in place, from 0 B to 1 TiB of output".
/// Adds a finding where no call at all selects the file.
[[nodiscard]] std::string usable_counts(const Program& program, const TargetRules& target,
                                        Findings& findings);

}  // namespace forestcoll::audit
