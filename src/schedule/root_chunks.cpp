#include "schedule/root_chunks.hpp"

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

}  // namespace forestcoll::schedule
