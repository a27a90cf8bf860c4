// Quick positive answers to "does this step come before that one?", along the way of the data.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "audit/msccl/step_graph.hpp"

namespace forestcoll::audit {

/// Where a schedule sends sums up a tree and the result down again, what orders two accesses to a
/// chunk is the way of the data itself: messages and flags, up to the root and back. Walking back
/// from a step along the only message or flag that it waits for ends at its *pivot*, the nearest
/// step that waits for both; steps of one tree share theirs. The ancestors of a pivot are marked
/// once for all questions about it.
///
/// A yes is exact (a path with a flag on it orders whole steps); a no only means "not this way".
class DataPaths {
 public:
  /// Cost: O(steps).
  DataPaths(const StepGraph& graph, std::span<const std::int32_t> order);

  /// −1 where the walk ends without one.
  [[nodiscard]] std::int32_t pivot(std::int32_t step) const {
    return pivot_[static_cast<std::size_t>(step)];
  }
  /// Marks the ancestors of a pivot along messages and flags. Cost: O(their number).
  void mark(std::int32_t pivot);
  /// Does all of `before` come before all of `after`? REQUIRES: pivot(after) was marked last.
  [[nodiscard]] bool is_ordered(std::int32_t before, std::int32_t after) const;

 private:
  void visit(std::int32_t step, bool flagged);

  const StepGraph& graph_;
  std::vector<std::int32_t> pivot_;
  std::vector<bool> flagged_;               ///< the walk to the pivot passes a flag
  std::vector<std::int32_t> seen_;          ///< the round in which a step was marked
  std::vector<std::int32_t> flagged_seen_;  ///< the same, with a flag on the path
  std::vector<std::pair<std::int32_t, bool>> stack_;
  std::int32_t round_ = 0;
};

}  // namespace forestcoll::audit
