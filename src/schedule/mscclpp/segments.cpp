#include "schedule/mscclpp/segments.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "schedule/root_chunks.hpp"

namespace forestcoll::schedule {
namespace {

struct TreeChunks {
  std::int64_t begin = 0, end = 0;
  TreeId tree;
};

// By their first chunks.
std::vector<TreeChunks> chunks_of_trees(const Forest& forest, const CollectiveForest& whole) {
  std::vector<TreeChunks> result;
  for (const ChunkRange& range : tree_chunks(forest, whole)) {
    result.push_back({range.begin, range.end, TreeId(result.size())});
  }
  std::sort(result.begin(), result.end(),
            [](const TreeChunks& a, const TreeChunks& b) { return a.begin < b.begin; });
  return result;
}

// The ranks of the plan that an edge's data goes through, both ends included.
std::vector<Rank> stops_of(const GroupForest& of, const Forest& forest, TreeId tree, Rank child) {
  Rank from = of.members[forest.parent(tree, child).index()], to = of.members[child.index()];
  if (forest.is_in_forest()) std::swap(from, to);
  std::vector<Rank> stops = {from};
  if (!of.relays.empty()) {
    for (const NodeId node : forest.path(tree, child)) {
      if (of.relays[node].valid()) stops.push_back(of.relays[node]);
    }
  }
  stops.push_back(to);
  return stops;
}

// Transfers along the stops, the first as `next` says; returns the level at which data is there.
std::int32_t append_edge(const std::vector<Rank>& stops, Transfer next,
                         std::vector<Transfer>& transfers) {
  for (std::size_t i = 1; i < stops.size(); ++i) {
    next.src = stops[i - 1];
    next.dst = stops[i];
    next.to_relay = i + 1 < stops.size();
    next.ready = next.level + 1;
    transfers.push_back(next);
    next.passes_on = std::ssize(transfers) - 1;
    ++next.level;
  }
  return next.level;
}

// Returns the level at which the root has the sum.
std::int32_t append_reduction(const GroupForest& of, const Segment& segment, std::int32_t number,
                              std::vector<Transfer>& transfers) {
  const Forest& forest = *of.forest->reduce;
  const auto order = forest.by_depth(segment.reduce);
  IdVector<Rank, std::int32_t> height(order.size(), 0);
  std::vector<std::pair<std::size_t, Rank>> into;  // the last transfer of each edge, and its parent
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Rank parent = forest.parent(segment.reduce, *it);
    if (!parent.valid()) continue;
    const auto arrived =
        append_edge(stops_of(of, forest, segment.reduce, *it),
                    {.level = height[*it], .segment = number, .reduces = true}, transfers);
    height[parent] = std::max(height[parent], arrived);
    into.emplace_back(transfers.size() - 1, parent);
  }
  for (const auto& [transfer, parent] : into) transfers[transfer].ready = height[parent];
  return height[order.front()];
}

}  // namespace

void append_segments(const GroupForest& of, std::size_t group, std::vector<Segment>& segments) {
  const CollectiveForest& forest = *of.forest;
  std::vector<TreeChunks> reduce, broadcast;
  if (forest.reduce) reduce = chunks_of_trees(*forest.reduce, forest);
  if (forest.broadcast) broadcast = chunks_of_trees(*forest.broadcast, forest);
  const Forest& any = first_trees(forest);
  const auto& either = forest.reduce ? reduce : broadcast;
  const auto blocks = root_chunks(forest, any.rank_count());
  // Both lists cover the same chunks without gaps; walk along them together.
  std::size_t r = 0, b = 0;
  std::int64_t at = 0;
  while (at < either.back().end) {
    Segment segment;
    segment.group = group;
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
    const Rank root = any.tree(forest.reduce ? segment.reduce : segment.broadcast).root;
    segment.root = of.members[root.index()];
    segment.own = at - blocks[root].begin;
    segment.count = end - at;
    segments.push_back(segment);
    at = end;
    if (r < reduce.size() && reduce[r].end == at) ++r;
    if (b < broadcast.size() && broadcast[b].end == at) ++b;
  }
}

std::int32_t append_transfers(const GroupForest& of, const Segment& segment, std::int32_t number,
                              std::vector<Transfer>& transfers) {
  const std::int32_t reduced =
      segment.reduce.valid() ? append_reduction(of, segment, number, transfers) : 0;
  if (!segment.broadcast.valid()) return reduced + 1;
  const Forest& forest = *of.forest->broadcast;
  const auto order = forest.by_depth(segment.broadcast);
  IdVector<Rank, std::int32_t> depth(order.size(), reduced);
  for (const Rank v : order) {
    const Rank parent = forest.parent(segment.broadcast, v);
    if (!parent.valid()) continue;
    depth[v] = append_edge(stops_of(of, forest, segment.broadcast, v),
                           {.level = depth[parent], .segment = number}, transfers);
  }
  return std::ranges::max(depth) + 1;
}

}  // namespace forestcoll::schedule
