#include "schedule/mscclpp/segments.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "schedule/root_chunks.hpp"

namespace forestcoll::schedule {
namespace {

struct TreeChunks {
  std::int64_t begin = 0, end = 0;
  TreeId tree;
};

// The trees of a root share its chunks out among them in forest order.
std::vector<TreeChunks> chunks_of_trees(const Forest& forest, const CollectiveForest& whole) {
  IdVector<Rank, ChunkRange> left = root_chunks(whole, forest.rank_count());
  std::vector<TreeChunks> result;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const auto& tree = forest.tree(TreeId(t));
    std::int64_t& begin = left[tree.root].begin;
    result.push_back({begin, begin + tree.multiplicity, TreeId(t)});
    begin += tree.multiplicity;
  }
  for (const ChunkRange& range : left) {
    FORESTCOLL_CHECK(range.size() == 0, "each root's multiplicities sum to k times its weight");
  }
  std::sort(result.begin(), result.end(),
            [](const TreeChunks& a, const TreeChunks& b) { return a.begin < b.begin; });
  return result;
}

}  // namespace

std::vector<Segment> cut_into_segments(const CollectiveForest& forest) {
  std::vector<TreeChunks> reduce, broadcast;
  if (forest.reduce) reduce = chunks_of_trees(*forest.reduce, forest);
  if (forest.broadcast) broadcast = chunks_of_trees(*forest.broadcast, forest);
  const Forest& any = forest.reduce ? *forest.reduce : *forest.broadcast;
  const auto& either = forest.reduce ? reduce : broadcast;
  std::vector<Segment> segments;
  // Both lists cover the same chunks without gaps; walk along them together.
  std::size_t r = 0, b = 0;
  std::int64_t at = 0;
  while (at < either.back().end) {
    Segment segment;
    segment.first = at;
    std::int64_t end = either.back().end;
    if (forest.reduce) {
      segment.reduce = reduce[r].tree;
      end = std::min(end, reduce[r].end);
    }
    if (forest.broadcast) {
      segment.broadcast = broadcast[b].tree;
      end = std::min(end, broadcast[b].end);
    }
    segment.root = any.tree(forest.reduce ? segment.reduce : segment.broadcast).root;
    segment.count = end - at;
    segments.push_back(segment);
    at = end;
    if (r < reduce.size() && reduce[r].end == at) ++r;
    if (b < broadcast.size() && broadcast[b].end == at) ++b;
  }
  return segments;
}

void append_transfers(const CollectiveForest& forest, const Segment& segment, std::int32_t number,
                      std::vector<Transfer>& transfers) {
  std::int32_t reduced = 0;  // levels until the root has the sum
  if (segment.reduce.valid()) {
    const auto order = forest.reduce->by_depth(segment.reduce);
    IdVector<Rank, std::int32_t> height(order.size(), 0);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Rank parent = forest.reduce->parent(segment.reduce, *it);
      if (!parent.valid()) continue;
      transfers.push_back({height[*it], number, *it, parent, true});
      height[parent] = std::max(height[parent], height[*it] + 1);
    }
    reduced = height[segment.root];
  }
  if (!segment.broadcast.valid()) return;
  const auto order = forest.broadcast->by_depth(segment.broadcast);
  IdVector<Rank, std::int32_t> depth(order.size(), 0);
  for (const Rank v : order) {
    const Rank parent = forest.broadcast->parent(segment.broadcast, v);
    if (!parent.valid()) continue;
    depth[v] = depth[parent] + 1;
    transfers.push_back({reduced + depth[parent], number, parent, v, false});
  }
}

}  // namespace forestcoll::schedule
