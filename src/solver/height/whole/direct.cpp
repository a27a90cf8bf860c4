#include "solver/height/whole/direct.hpp"

#include <cstddef>
#include <cstdint>

namespace forestcoll::solver {

bool is_direct(const Core& core, const Resources& resources) {
  for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
    const ArcId arc(a);
    if (!core.rank_of[core.graph.tail(arc)].valid() ||
        !core.rank_of[core.graph.head(arc)].valid() || resources.weight[arc] != 1) {
      return false;
    }
  }
  return true;
}

bool is_unshared(const Resources& resources) {
  for (std::size_t a = 0; a < resources.of.size(); ++a) {
    if (resources.of[ArcId(a)] != ArcId(a)) return false;
  }
  return true;
}

std::vector<Forest::Tree> joined_by_root(const TreeRows& rows) {
  const std::size_t ranks = rows.core.compute.size();
  IdVector<Rank, std::int64_t> owed(ranks, 0);
  for (const Forest::Tree& tree : rows.trees) owed[tree.root] += tree.multiplicity;
  std::vector<Forest::Tree> joined;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (owed[Rank(r)] > 0) joined.push_back({Rank(r), owed[Rank(r)], 0});
  }
  return joined;
}

}  // namespace forestcoll::solver
