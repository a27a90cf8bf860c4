// What an operation of an execution plan reads and writes.
#pragma once

#include <cstddef>

#include "audit/common/findings.hpp"
#include "audit/plan/file.hpp"

namespace forestcoll::audit {

/// Checks the operands of operation `i` of threadblock `t`, which moves or adds data: how many,
/// from where, their bounds, and what the executor would take them for.
void check_operands(const PlanFile& plan, std::size_t rank, std::size_t t, std::size_t i,
                    Findings& findings);

}  // namespace forestcoll::audit
