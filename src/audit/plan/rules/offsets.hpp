// Where an executor writes that knows its own caller's buffers alone.
#pragma once

#include <optional>

#include "audit/common/findings.hpp"
#include "audit/plan/file.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::audit {

/// MSCCL++'s executor adds to a place in another's output the offset that its own caller's output
/// has (execution_plan.cc, getConstOffset). Of a scatter in place the root's output lies in its
/// input, at its block, and the others' at the beginning of theirs: what a root other than rank 0
/// writes lands as far behind. Seen on a GPU. `root`: what the data said. Cost: linear in the
/// root's remote buffers.
void check_output_offsets(const PlanFile& plan, std::optional<Rank> root, Findings& findings);

}  // namespace forestcoll::audit
