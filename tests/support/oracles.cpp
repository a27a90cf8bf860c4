#include "support/oracles.hpp"

#include <algorithm>
#include <map>

namespace forestcoll::test {

Ratio brute_force_inverse_rate(const Network& network, const Weights& weights) {
  const std::size_t n = network.graph.node_count();
  std::uint32_t all_compute = 0;
  for (const NodeId v : network.ranks) all_compute |= 1u << v.value;
  Ratio best = 0;
  for (std::uint32_t set = 1; set < (1u << n); ++set) {
    if ((set & all_compute) == all_compute) continue;
    std::int64_t weight = 0, exit = 0;
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      if (set >> network.ranks[r].value & 1) weight += weights[Rank(r)];
    }
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      const Arc arc = network.graph.arcs()[a];
      if ((set >> arc.tail.value & 1) && !(set >> arc.head.value & 1)) {
        exit += network.capacity[ArcId(a)];
      }
    }
    if (weight > 0) best = std::max(best, Ratio(weight, exit));
  }
  return best;
}

std::string find_forest_flaw(const Network& network, const Weights& weights, const Scaling& scaling,
                             const Forest& forest) {
  std::map<std::pair<NodeId, NodeId>, Int128> load;
  std::map<Rank, std::int64_t> rooted;
  const std::size_t ranks = network.ranks.size();
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const Forest::Tree& tree = forest.tree(TreeId(t));
    const std::string name = "tree " + std::to_string(t);
    if (tree.multiplicity < 1) return name + " has no multiplicity";
    rooted[tree.root] += tree.multiplicity;
    std::int32_t height = 0;
    for (std::size_t v = 0; v < ranks; ++v) {
      Rank at(v);
      std::int32_t depth = 0;
      for (; at != tree.root; at = forest.parent(TreeId(t), at), ++depth) {
        if (!at.valid()) return name + " has a second root";
        if (depth > static_cast<std::int32_t>(ranks)) return name + " has a cycle";
      }
      height = std::max(height, depth);
      if (Rank(v) == tree.root) continue;
      const auto path = forest.path(TreeId(t), Rank(v));
      if (path.front() != network.ranks[forest.parent(TreeId(t), Rank(v)).index()] ||
          path.back() != network.ranks[v]) {
        return name + " has a path with the wrong ends";
      }
      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        if (i > 0 && network.is_compute(path[i])) return name + " passes through a compute node";
        load[{path[i], path[i + 1]}] += tree.multiplicity;
      }
    }
    if (height != tree.height) return name + " has another height";
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    if (rooted[Rank(r)] != scaling.k * weights[Rank(r)]) {
      return "rank " + std::to_string(r) + " roots " + std::to_string(rooted[Rank(r)]);
    }
  }
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc arc = network.graph.arcs()[a];
    const auto it = load.find({arc.tail, arc.head});
    if (it == load.end()) continue;
    // load ≤ scale · b, exactly
    if (it->second * scaling.scale.den() >
        Int128{network.capacity[ArcId(a)]} * scaling.scale.num()) {
      return "arc " + std::to_string(arc.tail.value) + "->" + std::to_string(arc.head.value) +
             " is overloaded";
    }
    load.erase(it);
  }
  if (!load.empty()) return "a path uses an arc that is not there";
  return {};
}

}  // namespace forestcoll::test
