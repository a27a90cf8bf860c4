#include "solver/symmetry/network_orbits.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/check.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll::solver {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The orbits of the group that these permutations generate. Images alone suffice: in a finite
// group an inverse is a power.
Partition orbits_of(std::size_t items, const std::vector<std::vector<std::size_t>>& permutations) {
  Partition orbits{std::vector<std::size_t>(items, kNone)};
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

std::vector<std::size_t> in_numbers(const NodeImage& image) {
  std::vector<std::size_t> numbers;
  numbers.reserve(image.size());
  for (const NodeId v : image) numbers.push_back(v.index());
  return numbers;
}

using LimitUses = std::vector<std::pair<ArcId, std::int64_t>>;

template <typename ImageOfArc>
LimitUses moved(const LimitUses& uses, const ImageOfArc& image_of_arc) {
  LimitUses image;
  for (const auto& [arc, weight] : uses) image.emplace_back(image_of_arc(arc), weight);
  std::ranges::sort(image);
  return image;
}

LimitUses image_of(const LimitUses& uses, const NodeImage& image, const Digraph& graph) {
  return moved(
      uses, [&](ArcId arc) { return graph.find(image[graph.tail(arc)], image[graph.head(arc)]); });
}

std::map<LimitUses, std::size_t> numbers_of_limits(const Network& network) {
  std::map<LimitUses, std::size_t> numbers;
  for (const ArcLimit& limit : network.limits) numbers.emplace(limit.uses, numbers.size());
  return numbers;
}

template <typename ImageOfUses>
bool keeps_all(const Network& network, const ImageOfUses& image_of_uses) {
  const auto numbers = numbers_of_limits(network);
  return std::ranges::all_of(network.limits, [&](const ArcLimit& limit) {
    const auto at = numbers.find(image_of_uses(limit.uses));
    return at != numbers.end() && network.limits[at->second].capacity == limit.capacity;
  });
}

}  // namespace

bool keeps_limits(const NodeImage& image, const Network& network) {
  return keeps_all(network,
                   [&](const LimitUses& uses) { return image_of(uses, image, network.graph); });
}

bool has_limits_both_ways(const Network& network) {
  const Digraph& graph = network.graph;
  return keeps_all(network, [&](const LimitUses& uses) {
    return moved(uses, [&](ArcId arc) { return graph.find(graph.head(arc), graph.tail(arc)); });
  });
}

Partition limit_orbits(const Network& network, std::span<const NodeImage> automorphisms) {
  const auto numbers = numbers_of_limits(network);
  std::vector<std::vector<std::size_t>> images;
  for (const NodeImage& image : automorphisms) {
    auto& of_limits = images.emplace_back();
    for (const ArcLimit& limit : network.limits) {
      of_limits.push_back(numbers.at(image_of(limit.uses, image, network.graph)));
    }
  }
  return orbits_of(network.limits.size(), images);
}

NetworkOrbits orbits_under(const Network& network, std::span<const NodeImage> automorphisms) {
  const Digraph& graph = network.graph;
  std::vector<std::vector<std::size_t>> nodes, arcs;
  for (const NodeImage& image : automorphisms) {
    nodes.push_back(in_numbers(image));
    auto& arc_image = arcs.emplace_back();
    for (const Arc& arc : graph.arcs()) {
      const ArcId a = graph.find(image[arc.tail], image[arc.head]);
      FORESTCOLL_CHECK(a.valid(), "an automorphism maps arcs to arcs");
      arc_image.push_back(a.index());
    }
  }
  return {orbits_of(graph.node_count(), nodes), orbits_of(graph.arc_count(), arcs)};
}

NetworkOrbits find_network_orbits(const Network& network, const Weights& weights) {
  std::vector<NodeImage> automorphisms;
  for (const Symmetry& group : find_symmetries(network, weights)) {
    for (const Symmetry::Generator& generator : group.generators()) {
      automorphisms.push_back(generator.nodes);
    }
  }
  return orbits_under(network, automorphisms);
}

Partition find_node_orbits(const Network& network, const Weights& weights) {
  std::vector<std::vector<std::size_t>> nodes;
  for (const Symmetry& group : find_symmetries(network, weights)) {
    for (const Symmetry::Generator& generator : group.generators()) {
      nodes.push_back(in_numbers(generator.nodes));
    }
  }
  return orbits_of(network.graph.node_count(), nodes);
}

}  // namespace forestcoll::solver
