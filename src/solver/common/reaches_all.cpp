#include "solver/common/reaches_all.hpp"

#include <algorithm>

#include "topology/model/reach.hpp"

namespace forestcoll::solver {

bool reaches_all(const Network& network) {
  const auto met = topology::found_from(network.graph, network.ranks.front(), false,
                                        [](ArcId /*arc*/, NodeId /*to*/) { return true; });
  return std::ranges::all_of(network.ranks, [&](NodeId v) { return met[v]; });
}

}  // namespace forestcoll::solver
