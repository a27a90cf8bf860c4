#include "solver/symmetry/fabric_group.hpp"

#include <map>
#include <optional>
#include <utility>

#include "solver/symmetry/automorphisms.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll::solver {
namespace {

Capacity code_of(const SwitchRole& role) {
  return (role.copies ? 1 : 0) + (role.combines ? 2 : 0) + (role.echoes ? 4 : 0);
}

std::vector<MarkedSet> sets_of_roles(const SwitchRoles& roles) {
  std::vector<MarkedSet> sets;
  for (std::size_t v = 0; v < roles.size(); ++v) {
    const Capacity code = code_of(roles[NodeId(v)]);
    if (code != 0) sets.push_back({{{NodeId(v), code}}});
  }
  return sets;
}

// The network with a node beside every set, whose links say what its nodes are in it.
Network with_marks(const Network& network, std::span<const MarkedSet> sets) {
  if (sets.empty()) return network;
  std::vector<Arc> arcs(network.graph.arcs().begin(), network.graph.arcs().end());
  std::vector<Capacity> capacities(network.capacity.begin(), network.capacity.end());
  std::size_t nodes = network.graph.node_count();
  for (const MarkedSet& set : sets) {
    const NodeId mark(nodes++);
    for (const auto& [v, code] : set.nodes) {
      for (const Arc& arc : {Arc{v, mark}, Arc{mark, v}}) {
        arcs.push_back(arc);
        capacities.push_back(code);
      }
    }
  }
  std::vector<std::size_t> order;
  Network marked;
  marked.graph = Digraph(nodes, arcs, &order);
  for (const std::size_t a : order) marked.capacity.push_back(capacities[a]);
  marked.ranks = network.ranks;
  marked.rank_of = network.rank_of;
  while (marked.rank_of.size() < nodes) marked.rank_of.push_back(Rank());
  return marked;
}

// Of the nodes without the marks; nothing where a mark takes a node's place.
std::optional<NodeImage> without_marks(const NodeImage& image, std::size_t nodes) {
  NodeImage part;
  for (std::size_t v = 0; v < nodes; ++v) {
    if (image[NodeId(v)].index() >= nodes) return std::nullopt;
    part.push_back(image[NodeId(v)]);
  }
  return part;
}

// All that tells a switch from one with the same neighbours.
struct Surroundings {
  std::vector<std::pair<NodeId, Capacity>> out, in;
  Capacity code = 0;
  auto operator<=>(const Surroundings&) const = default;
};

Surroundings surroundings_of(const Network& network, const SwitchRoles& roles, NodeId v) {
  Surroundings seen;
  const Digraph& graph = network.graph;
  for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
    seen.out.emplace_back(graph.head(a), network.capacity[a]);
  }
  for (const ArcId a : graph.in(v)) seen.in.emplace_back(graph.tail(a), network.capacity[a]);
  if (!roles.empty()) seen.code = code_of(roles[v]);
  return seen;
}

// Neighbours in a row of alike switches change places: that generates all their permutations.
void add_exchanges(const Network& network, const SwitchRoles& roles,
                   std::vector<NodeImage>& generators) {
  const std::size_t nodes = network.graph.node_count();
  NodeImage identity;
  for (std::size_t v = 0; v < nodes; ++v) identity.push_back(NodeId(v));
  std::map<Surroundings, NodeId> last;
  for (std::size_t i = 0; i < nodes; ++i) {
    const NodeId v(i);
    if (network.is_compute(v) || network.graph.in(v).empty()) continue;
    const auto [at, is_new] = last.emplace(surroundings_of(network, roles, v), v);
    if (is_new) continue;
    NodeImage& image = generators.emplace_back(identity);
    std::swap(image[at->second], image[v]);
    at->second = v;
  }
}

}  // namespace

std::vector<NodeImage> find_fabric_group(const Network& network, const SwitchRoles& roles,
                                         const Weights& weights, std::span<const MarkedSet> sets) {
  std::vector<NodeImage> generators;
  const std::size_t nodes = network.graph.node_count();
  std::vector<MarkedSet> all = sets_of_roles(roles);
  all.insert(all.end(), sets.begin(), sets.end());
  const Network marked = with_marks(network, all);
  std::vector<NodeImage> known;
  for (const Symmetry& group : find_symmetries(marked, weights)) {
    for (const Symmetry::Generator& generator : group.generators()) {
      known.push_back(generator.nodes);
    }
  }
  for (const NodeImage& other : find_other_automorphisms(marked, weights, known)) {
    known.push_back(other);
  }
  for (const NodeImage& image : known) {
    if (auto part = without_marks(image, nodes)) generators.push_back(*std::move(part));
  }
  add_exchanges(network, roles, generators);
  std::erase_if(generators, [&](const NodeImage& image) { return !keeps_limits(image, network); });
  return generators;
}

}  // namespace forestcoll::solver
