// Which chunks of the whole buffer each rank roots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::schedule {

/// A contiguous range of the chunks of the whole collective.
struct ChunkRange {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

/// The chunks that each rank roots, one rank after the other: k for every unit of its weight; of a
/// broadcast or reduce, k of the root and none of the others. In an allgather and a reduce_scatter
/// they are what the rank owns. `order`: that of the ranks; empty: rank 0 first. Cost: linear.
[[nodiscard]] IdVector<Rank, ChunkRange> root_chunks(const CollectiveForest& forest,
                                                     std::size_t ranks,
                                                     const std::vector<Rank>& order = {});

/// The chunks of each tree: those of a root share its chunks out among them in forest order.
/// Cost: linear.
[[nodiscard]] std::vector<ChunkRange> tree_chunks(const Forest& forest,
                                                  const CollectiveForest& whole);

}  // namespace forestcoll::schedule
