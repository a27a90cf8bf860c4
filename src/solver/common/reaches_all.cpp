#include "solver/common/reaches_all.hpp"

#include <algorithm>
#include <vector>

namespace forestcoll::solver {

bool reaches_all(const Network& network) {
  std::vector<bool> met(network.graph.node_count(), false);
  std::vector<NodeId> stack = {network.ranks.front()};
  met[stack.front().index()] = true;
  while (!stack.empty()) {
    const NodeId v = stack.back();
    stack.pop_back();
    for (ArcId a = network.graph.first_out(v); a != network.graph.last_out(v); ++a.value) {
      const NodeId w = network.graph.head(a);
      if (!met[w.index()]) stack.push_back(w);
      met[w.index()] = true;
    }
  }
  return std::ranges::all_of(network.ranks, [&](NodeId v) { return met[v.index()]; });
}

}  // namespace forestcoll::solver
