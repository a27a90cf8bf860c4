// Groups of threadblocks that share the work of an operation.
#pragma once

#include <cstdint>

#include "audit/common/findings.hpp"
#include "audit/common/program.hpp"
#include "audit/plan/file.hpp"

namespace forestcoll::audit {

inline constexpr std::int64_t kMaxSlices = 256;  ///< of a chunk

/// Checks the part that operation `op` takes of its group's work.
void check_group_part(const PlanOp& op, const Place& place, Findings& findings);

/// How many slices to cut every chunk into, so that each part of a group is whole slices; 1 without
/// groups; some number above kMaxSlices where that is too many. Cost: O(operations).
[[nodiscard]] std::int64_t slices_of(const PlanFile& plan);

/// The same plan in slices of chunks: every chunk counts as `slices`, and every part of a group is
/// an operation by itself; and the sizes of its buffers in slices. Cost: O(plan).
[[nodiscard]] PlanFile in_slices(PlanFile plan, std::int64_t slices);
[[nodiscard]] Program in_slices(Program program, std::int64_t slices);

/// The executor cuts where the alignment lets it. Where all groups cut chunks alike, the parts that
/// belong together are cut in the same places whatever a chunk's size; else only where each part
/// has equally many units. Then the number, of units of the alignment, that a chunk's size must be
/// a multiple of; else 1. Cost: O(operations).
[[nodiscard]] std::int64_t units_of_chunks(const PlanFile& plan);

}  // namespace forestcoll::audit
