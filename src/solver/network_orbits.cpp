#include "solver/network_orbits.hpp"

#include "solver/symmetry.hpp"

namespace forestcoll::solver {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The orbits of the group that these permutations generate. Images alone suffice: in a finite
// group an inverse is a power.
OrbitNumbers orbits_of(std::size_t items, const std::vector<std::vector<std::size_t>>& permutations) {
  OrbitNumbers orbits{std::vector<std::size_t>(items, kNone)};
  std::vector<std::size_t> reached;
  for (std::size_t first = 0; first < items; ++first) {
    if (orbits.of[first] != kNone) continue;
    orbits.of[first] = orbits.count;
    reached.assign(1, first);
    while (!reached.empty()) {
      const std::size_t item = reached.back();
      reached.pop_back();
      for (const auto& image : permutations) {
        if (orbits.of[image[item]] != kNone) continue;
        orbits.of[image[item]] = orbits.count;
        reached.push_back(image[item]);
      }
    }
    ++orbits.count;
  }
  return orbits;
}

}  // namespace

NetworkOrbits find_network_orbits(const Network& network, const Weights& weights) {
  const Digraph& graph = network.graph;
  std::vector<std::vector<std::size_t>> nodes, arcs;
  for (const Symmetry& group : find_symmetries(network, weights)) {
    for (const Symmetry::Generator& generator : group.generators()) {
      auto& node_image = nodes.emplace_back();
      for (const NodeId v : generator.nodes) node_image.push_back(v.index());
      auto& arc_image = arcs.emplace_back();
      for (const Arc& arc : graph.arcs()) {
        arc_image.push_back(
            graph.find(generator.nodes[arc.tail], generator.nodes[arc.head]).index());
      }
    }
  }
  return {orbits_of(graph.node_count(), nodes), orbits_of(graph.arc_count(), arcs)};
}

}  // namespace forestcoll::solver
