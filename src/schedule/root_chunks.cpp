#include "schedule/root_chunks.hpp"

#include "base/check.hpp"

namespace forestcoll::schedule {

IdVector<Rank, ChunkRange> root_chunks(const CollectiveForest& forest, std::size_t ranks,
                                       const std::vector<Rank>& order) {
  IdVector<Rank, ChunkRange> ranges(ranks);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < ranks; ++i) {
    const Rank rank = order.empty() ? Rank(i) : order[i];
    const bool is_root = !forest.root || *forest.root == rank;
    const std::int64_t weight = forest.weight.empty() || forest.root ? 1 : forest.weight[rank];
    const std::int64_t end = begin + (is_root ? forest.k * weight : 0);
    ranges[rank] = {begin, end};
    begin = end;
  }
  return ranges;
}

std::vector<ChunkRange> tree_chunks(const Forest& forest, const CollectiveForest& whole) {
  IdVector<Rank, ChunkRange> left = root_chunks(whole, forest.rank_count());
  std::vector<ChunkRange> ranges;
  ranges.reserve(forest.tree_count());
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const auto& tree = forest.tree(TreeId(t));
    std::int64_t& begin = left[tree.root].begin;
    ranges.push_back({begin, begin + tree.multiplicity});
    begin += tree.multiplicity;
  }
  for (const ChunkRange& range : left) {
    FORESTCOLL_CHECK(range.begin == range.end, "each root's multiplicities sum to its share");
  }
  return ranges;
}

}  // namespace forestcoll::schedule
