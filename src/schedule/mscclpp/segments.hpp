// Chunks that take the same trees, and the messages that carry them.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::schedule {

/// Neighbouring chunks of one root that one tree reduces and one tree spreads, where the collective
/// does either.
struct Segment {
  Rank root;
  std::int64_t first = 0;  ///< chunk of the whole buffer
  std::int64_t count = 0;
  TreeId reduce, broadcast;
};

/// The segments in order of their chunks: the trees of both forests cut at one another's bounds.
/// REQUIRES: each root's multiplicities sum to k times its weight in each forest. Cost: O(trees ·
/// log).
[[nodiscard]] std::vector<Segment> cut_into_segments(const CollectiveForest& forest);

/// One segment's data from rank to rank. `level` is the length of the longest chain of messages
/// that must come before.
struct Transfer {
  std::int32_t level = 0;
  std::int32_t segment = 0;
  Rank src, dst;
  bool reduces = false;
};

/// All transfers of a segment. Cost: O(ranks · log).
void append_transfers(const CollectiveForest& forest, const Segment& segment, std::int32_t number,
                      std::vector<Transfer>& transfers);

}  // namespace forestcoll::schedule
