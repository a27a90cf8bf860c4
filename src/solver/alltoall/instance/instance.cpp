#include "solver/alltoall/instance/instance.hpp"

#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "forestcoll/rate.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// Ranks with the same neighbours can change places. One permutation turns all classes of such
// twins at once; nothing where there are none.
std::optional<NodeImage> turned_twins(const Network& network) {
  using Neighbours = std::vector<std::pair<NodeId, Capacity>>;
  const Digraph& graph = network.graph;
  std::map<std::pair<Neighbours, Neighbours>, std::vector<NodeId>> classes;
  for (const NodeId v : network.ranks) {
    Neighbours to, from;
    for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
      to.emplace_back(graph.head(a), network.capacity[a]);
    }
    for (const ArcId a : graph.in(v)) from.emplace_back(graph.tail(a), network.capacity[a]);
    classes[{std::move(to), std::move(from)}].push_back(v);
  }
  if (classes.size() == network.ranks.size()) return std::nullopt;
  NodeImage image;
  for (std::size_t v = 0; v < graph.node_count(); ++v) image.push_back(NodeId(v));
  for (const auto& [neighbours, twins] : classes) {
    for (std::size_t i = 0; i < twins.size(); ++i) image[twins[i]] = twins[(i + 1) % twins.size()];
  }
  return image;
}

bool keeps(const NodeImage& image, const Network& network, const Demand& demand) {
  if (demand.is_uniform()) return true;
  const auto moved = [&](std::size_t r) { return network.rank_of[image[network.ranks[r]]]; };
  for (std::size_t s = 0; s < demand.ranks(); ++s) {
    for (std::size_t t = 0; t < demand.ranks(); ++t) {
      if (demand(Rank(s), Rank(t)) != demand(moved(s), moved(t))) return false;
    }
  }
  return true;
}

std::vector<NodeImage> symmetries_of(const Network& network, const Demand& demand) {
  std::vector<NodeImage> images;
  for (const Symmetry& group : find_symmetries_by_class(network, uniform_weights(network))) {
    for (const Symmetry::Generator& generator : group.generators()) {
      images.push_back(generator.nodes);
    }
  }
  if (auto twins = turned_twins(network)) images.push_back(*std::move(twins));
  std::erase_if(images, [&](const NodeImage& image) { return !keeps(image, network, demand); });
  return images;
}

std::int64_t common_divisor(const Demand& demand) {
  if (demand.is_uniform()) return demand.ranks() > 1 ? 1 : 0;
  std::int64_t divisor = 0;
  for (std::size_t s = 0; s < demand.ranks(); ++s) {
    for (std::size_t t = 0; t < demand.ranks(); ++t) {
      divisor = std::gcd(divisor, demand(Rank(s), Rank(t)));
    }
  }
  return divisor;
}

bool sends(const Demand& demand, Rank s) {
  if (demand.is_uniform()) return true;
  for (std::size_t t = 0; t < demand.ranks(); ++t) {
    if (demand(s, Rank(t)) > 0) return true;
  }
  return false;
}

}  // namespace

IdVector<NodeId, std::int64_t> Instance::needs(Rank source) const {
  IdVector<NodeId, std::int64_t> needs(network.graph.node_count(), 0);
  for (std::size_t t = 0; t < network.ranks.size(); ++t) {
    needs[network.ranks[t]] = demand(source, Rank(t)) / unit;
  }
  return needs;
}

Instance make_instance(const Network& network, const Demand& demand) {
  Instance instance{.network = network,
                    .demand = demand,
                    .unit = common_divisor(demand),
                    .symmetries = symmetries_of(network, demand),
                    .orbits = {},
                    .arc_members = {},
                    .sources = {}};
  instance.orbits = orbits_under(network, instance.symmetries);
  instance.arc_members.assign(instance.orbits.arcs.count, 0);
  for (const std::size_t orbit : instance.orbits.arcs.of) ++instance.arc_members[orbit];
  std::vector<std::size_t> place(instance.orbits.nodes.count, 0);  // in `sources`, from 1
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    if (!sends(demand, Rank(r))) continue;
    std::size_t& at = place[instance.orbits.nodes.of[network.ranks[r].index()]];
    if (at == 0) {
      instance.sources.push_back({Rank(r), 0});
      at = instance.sources.size();
    }
    ++instance.sources[at - 1].members;
  }
  return instance;
}

}  // namespace forestcoll::solver::alltoall
