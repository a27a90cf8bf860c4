// Exact bandwidths to integral capacities: by the least common multiple L of their denominators,
// then divided by the greatest common divisor of what results. The bounds that `Network` promises
// are checked before anything is multiplied out.
#include "forestcoll/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/model/arcs.hpp"

namespace forestcoll {
namespace {

using topology::DirectedLink;

constexpr Int128 kBound = Int128{1} << 62;

// Of a limit, as whole numbers: what lengths of links are multiplied by.
constexpr std::int64_t kMostWeight = 1000;

// The least common multiple, while it times `nodes` stays below the bound.
std::optional<std::int64_t> common_denominator(const std::vector<Ratio>& bandwidths, Int128 nodes) {
  Int128 common = 1;
  for (const Ratio& bandwidth : bandwidths) {
    const std::int64_t den = bandwidth.den();
    common *= den / std::gcd(static_cast<std::int64_t>(common), den);
    if (common * nodes >= kBound) return std::nullopt;
  }
  return static_cast<std::int64_t>(common);
}

// Every bandwidth times `common`, while their sum times `nodes` stays below the bound.
std::optional<std::vector<Capacity>> scale(const std::vector<Ratio>& bandwidths,
                                           std::int64_t common, Int128 nodes) {
  std::vector<Capacity> scaled;
  scaled.reserve(bandwidths.size());
  Int128 sum = 0;
  for (const Ratio& bandwidth : bandwidths) {
    const Int128 capacity = Int128{bandwidth.num()} * (common / bandwidth.den());
    sum += capacity;
    if (capacity >= kBound || sum >= kBound || sum * nodes >= kBound) return std::nullopt;
    scaled.push_back(static_cast<Capacity>(capacity));
  }
  return scaled;
}

// The finest power of ten, as text, to which the bandwidths could be rounded: a hint, so that
// floating point will do.
std::string suggested_step(const Topology& topology, const std::vector<DirectedLink>& arcs,
                           Int128 nodes) {
  double sum = 0;
  for (const DirectedLink& link : arcs) sum += topology.links[link.link].bandwidth.to_double();
  const double finest = sum * static_cast<double>(nodes) / static_cast<double>(kBound);
  const int exponent = std::max(-6, static_cast<int>(std::ceil(std::log10(finest))));
  return exponent <= 0 ? "1/1" + std::string(static_cast<std::size_t>(-exponent), '0')
                       : "1" + std::string(static_cast<std::size_t>(exponent), '0');
}

Diagnostic too_large(const Topology& topology, const std::vector<DirectedLink>& arcs,
                     Int128 nodes) {
  LinkId finest = arcs.front().link;
  LinkId widest = finest;
  for (const DirectedLink& link : arcs) {
    const Ratio& bandwidth = topology.links[link.link].bandwidth;
    if (bandwidth.den() > topology.links[finest].bandwidth.den()) finest = link.link;
    if (bandwidth > topology.links[widest].bandwidth) widest = link.link;
  }
  const auto describe = [&](LinkId id) {
    const TopologyLink& link = topology.links[id];
    return fmt::format("{} to {} at {} GB/s", topology.nodes[link.src].id,
                       topology.nodes[link.dst].id, link.bandwidth.to_string());
  };
  std::string links = describe(finest);
  if (finest != widest) links += " beside " + describe(widest);
  return make_error(Code::E14,
                    fmt::format("the bandwidths are too large or too fine together for exact "
                                "arithmetic in 64 bits: {}",
                                links),
                    fmt::format("Round them with `quantize={}` (GB/s), or coarser.",
                                suggested_step(topology, arcs, nodes)));
}

// A network from arcs in any order; the capacities of arcs between the same ends are summed.
Network build(std::size_t nodes, std::vector<std::pair<Arc, Capacity>> arcs) {
  std::stable_sort(arcs.begin(), arcs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.tail, a.first.head) < std::pair(b.first.tail, b.first.head);
  });
  std::vector<Arc> merged;
  Network network;
  for (const auto& [arc, capacity] : arcs) {
    if (!merged.empty() && merged.back() == arc) {
      network.capacity[ArcId(merged.size() - 1)] += capacity;
    } else {
      merged.push_back(arc);
      network.capacity.push_back(capacity);
    }
  }
  network.graph = Digraph(nodes, merged);
  return network;
}

// A limit over the arcs of a network, with whole weights.
struct WholeLimit {
  std::vector<std::pair<ArcId, std::int64_t>> uses;
  Ratio bandwidth;  // GB/s, with these weights
  std::string name;
};

Diagnostic limit_too_fine(const SharedLimit& limit, const Topology& topology) {
  return make_error(Code::E14,
                    fmt::format("the weights of the limit {} are too fine for exact arithmetic",
                                name_of(limit, topology)),
                    "As whole numbers, in proportion, they are at most 1000; write fewer digits.");
}

// Those that hold any arc. `find`: the arc from one node to another, invalid where there is none.
template <class Find>
Expected<std::vector<WholeLimit>> whole_limits(const Topology& topology, const Find& find) {
  std::vector<WholeLimit> limits;
  for (const SharedLimit& limit : topology.limits) {
    WholeLimit whole{{}, limit.bandwidth, limit.name};
    Ratio common = 1;  // of the weights' denominators
    for (const SharedLimit::Use& use : limit.uses) {
      const std::int64_t den = use.weight.den();
      const auto next = checked_mul(common, Ratio(den / std::gcd(common.num(), den)));
      if (!next) return limit_too_fine(limit, topology);
      common = *next;
    }
    for (const SharedLimit::Use& use : limit.uses) {
      const ArcId arc = find(use.src, use.dst);
      if (!arc.valid()) continue;
      const auto weight = checked_mul(use.weight, common);
      if (!weight || weight->num() > kMostWeight) return limit_too_fine(limit, topology);
      whole.uses.emplace_back(arc, weight->num());
    }
    const auto bandwidth = checked_mul(limit.bandwidth, common);
    if (!bandwidth) return limit_too_fine(limit, topology);
    if (whole.uses.empty()) continue;
    whole.bandwidth = *bandwidth;
    std::ranges::sort(whole.uses);
    limits.push_back(std::move(whole));
  }
  // Of those on the same arcs one holds.
  std::ranges::sort(limits, {},
                    [](const WholeLimit& limit) { return std::tie(limit.uses, limit.bandwidth); });
  limits.erase(
      std::unique(limits.begin(), limits.end(),
                  [](const WholeLimit& a, const WholeLimit& b) { return a.uses == b.uses; }),
      limits.end());
  return limits;
}

// Far above every sensible share, and leaves room for products with capacities.
constexpr Int128 kMostShares = Int128{1} << 40;

const Ratio& weight_of(const Topology& topology, NodeId rank) {
  return topology.nodes[rank].weight;
}

Diagnostic too_fine(const Topology& topology) {
  const auto finest =
      std::max_element(topology.ranks.begin(), topology.ranks.end(), [&](NodeId a, NodeId b) {
        const Ratio& x = weight_of(topology, a);
        const Ratio& y = weight_of(topology, b);
        return std::max(x.num(), x.den()) < std::max(y.num(), y.den());
      });
  return make_error(
      Code::E14,
      fmt::format("the weights are too large or too fine together for exact "
                  "arithmetic: {} has {}",
                  topology.nodes[*finest].id, weight_of(topology, *finest).to_string()),
      "Use weights that are small integers in proportion, such as 1, 2 and 3.");
}

// The weights of the ranks in lowest integers; empty where all are alike. Errors: E14
// where the integers or their sum do not fit. Cost: linear in the ranks.
// By the least common multiple of the denominators, divided by the greatest common divisor.
Expected<IdVector<Rank, std::int64_t>> integral_weights(const Topology& topology) {
  IdVector<Rank, std::int64_t> weights;
  if (topology.ranks.empty()) return weights;
  Int128 common = 1;
  bool alike = true;
  for (const NodeId rank : topology.ranks) {
    const Ratio& weight = weight_of(topology, rank);
    alike &= weight == weight_of(topology, topology.ranks.front());
    common *= weight.den() / std::gcd(static_cast<std::int64_t>(common), weight.den());
    if (common > kMostShares) return too_fine(topology);
  }
  if (alike) return weights;

  std::vector<Int128> scaled;
  Int128 divisor = 0;
  for (const NodeId rank : topology.ranks) {
    const Ratio& weight = weight_of(topology, rank);
    scaled.push_back(weight.num() * (common / weight.den()));
    Int128 other = scaled.back();
    while (other != 0) divisor = std::exchange(other, divisor % other);
  }
  Int128 total = 0;
  for (const Int128 weight : scaled) {
    total += weight / divisor;
    if (total > kMostShares) return too_fine(topology);
    weights.push_back(static_cast<std::int64_t>(weight / divisor));
  }
  return weights;
}

}  // namespace

Expected<Network> to_digraph(const Topology& topology) {
  auto weights = integral_weights(topology);
  if (!weights) return weights.errors();
  const auto arcs = topology::enabled_arcs(topology);
  const std::int64_t data = std::accumulate(weights->begin(), weights->end(), std::int64_t{0});
  const Int128 nodes = std::max({Int128{1}, Int128{topology.ranks.size()}, Int128{data}});
  std::vector<std::pair<Arc, Capacity>> capacitated;
  capacitated.reserve(arcs.size());
  for (const DirectedLink& link : arcs) capacitated.emplace_back(link.arc, 0);
  Digraph graph;
  if (!topology.limits.empty()) graph = build(topology.nodes.size(), capacitated).graph;
  const auto limits =
      whole_limits(topology, [&](NodeId src, NodeId dst) { return graph.find(src, dst); });
  if (!limits) return limits.errors();
  std::vector<Ratio> bandwidths;
  bandwidths.reserve(arcs.size() + limits->size());
  for (const DirectedLink& link : arcs) bandwidths.push_back(topology.links[link.link].bandwidth);
  for (const WholeLimit& limit : *limits) bandwidths.push_back(limit.bandwidth);
  const auto common = common_denominator(bandwidths, nodes);
  const auto scaled = common ? scale(bandwidths, *common, nodes) : std::nullopt;
  if (!scaled) return too_large(topology, arcs, nodes);

  for (std::size_t i = 0; i < arcs.size(); ++i) capacitated[i].second = (*scaled)[i];
  Network network = build(topology.nodes.size(), std::move(capacitated));
  for (std::size_t i = 0; i < limits->size(); ++i) {
    const WholeLimit& limit = (*limits)[i];
    network.limits.push_back({limit.uses, (*scaled)[arcs.size() + i], limit.name});
  }
  Capacity divisor = 0;
  for (const Capacity capacity : network.capacity) divisor = std::gcd(divisor, capacity);
  for (const ArcLimit& limit : network.limits) divisor = std::gcd(divisor, limit.capacity);
  if (divisor > 0) {
    for (Capacity& capacity : network.capacity) capacity /= divisor;
    for (ArcLimit& limit : network.limits) limit.capacity /= divisor;
    network.unit = Ratio(divisor, *common);
  }
  network.ranks = topology.ranks;
  network.rank_of.assign(topology.nodes.size(), Rank());
  for (std::size_t r = 0; r < network.ranks.size(); ++r)
    network.rank_of[network.ranks[r]] = Rank(r);
  network.weight = *std::move(weights);
  network.has_owner = network.ranks.empty() || std::ranges::any_of(network.ranks, [&](NodeId rank) {
                        return weight_of(topology, rank) > Ratio(0);
                      });
  return network;
}

bool has_unequal_shares(const Network& network, Collective collective) {
  const bool has_owners =
      collective == Collective::allgather || collective == Collective::reduce_scatter;
  return has_owners && !network.weight.empty();
}

Expected<void> refuse_without_owner(const Network& network, Collective collective) {
  const bool has_owners =
      collective == Collective::allgather || collective == Collective::reduce_scatter;
  if (network.has_owner || !has_owners) return {};
  return make_error(Code::E05, "every compute node has weight 0: nobody owns any data",
                    "Give at least one compute node a positive weight.");
}

bool is_symmetric(const Network& network) {
  const Digraph& graph = network.graph;
  for (std::size_t a = 0; a < graph.arc_count(); ++a) {
    const ArcId back = graph.find(graph.head(ArcId(a)), graph.tail(ArcId(a)));
    if (!back.valid() || network.capacity[back] != network.capacity[ArcId(a)]) return false;
  }
  return true;
}

Network reversed(const Network& network) {
  std::vector<std::pair<Arc, Capacity>> turned;
  turned.reserve(network.graph.arc_count());
  for (std::size_t i = 0; i < network.graph.arc_count(); ++i) {
    const ArcId a(i);
    turned.emplace_back(Arc{network.graph.head(a), network.graph.tail(a)}, network.capacity[a]);
  }
  Network result = build(network.graph.node_count(), std::move(turned));
  result.unit = network.unit;
  result.ranks = network.ranks;
  result.rank_of = network.rank_of;
  result.weight = network.weight;
  result.has_owner = network.has_owner;
  result.limits = network.limits;
  for (ArcLimit& limit : result.limits) {
    for (auto& use : limit.uses) {
      const ArcId arc = use.first;
      use.first = result.graph.find(network.graph.head(arc), network.graph.tail(arc));
    }
    std::ranges::sort(limit.uses);
  }
  return result;
}

}  // namespace forestcoll
