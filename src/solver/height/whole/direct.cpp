#include "solver/height/whole/direct.hpp"

#include <cstddef>

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

}  // namespace forestcoll::solver
