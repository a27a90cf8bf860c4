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
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "topology/model/arcs.hpp"
#include "topology/model/weights.hpp"

namespace forestcoll {
namespace {

using topology::DirectedLink;

constexpr Int128 kBound = Int128{1} << 62;

// The least common multiple, while it times `nodes` stays below the bound.
std::optional<std::int64_t> common_denominator(const Topology& topology,
                                               const std::vector<DirectedLink>& arcs,
                                               Int128 nodes) {
  Int128 common = 1;
  for (const DirectedLink& link : arcs) {
    const std::int64_t den = topology.links[link.link].bandwidth.den();
    common *= den / std::gcd(static_cast<std::int64_t>(common), den);
    if (common * nodes >= kBound) return std::nullopt;
  }
  return static_cast<std::int64_t>(common);
}

// Every bandwidth times `common`, while their sum times `nodes` stays below the bound.
std::optional<std::vector<Capacity>> scale(const Topology& topology,
                                           const std::vector<DirectedLink>& arcs,
                                           std::int64_t common, Int128 nodes) {
  std::vector<Capacity> scaled;
  scaled.reserve(arcs.size());
  Int128 sum = 0;
  for (const DirectedLink& link : arcs) {
    const Ratio& bandwidth = topology.links[link.link].bandwidth;
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

}  // namespace

Expected<Network> to_digraph(const Topology& topology) {
  auto weights = topology::integral_weights(topology);
  if (!weights) return weights.errors();
  const auto arcs = topology::enabled_arcs(topology);
  const std::int64_t data = std::accumulate(weights->begin(), weights->end(), std::int64_t{0});
  const Int128 nodes = std::max({Int128{1}, Int128{topology.ranks.size()}, Int128{data}});
  const auto common = common_denominator(topology, arcs, nodes);
  const auto scaled = common ? scale(topology, arcs, *common, nodes) : std::nullopt;
  if (!scaled) return too_large(topology, arcs, nodes);

  std::vector<std::pair<Arc, Capacity>> capacitated;
  capacitated.reserve(arcs.size());
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    capacitated.emplace_back(arcs[i].arc, (*scaled)[i]);
  }
  Network network = build(topology.nodes.size(), std::move(capacitated));
  Capacity divisor = 0;
  for (const Capacity capacity : network.capacity) divisor = std::gcd(divisor, capacity);
  if (divisor > 0) {
    for (Capacity& capacity : network.capacity) capacity /= divisor;
    network.unit = Ratio(divisor, *common);
  }
  network.ranks = topology.ranks;
  network.rank_of.assign(topology.nodes.size(), Rank());
  for (std::size_t r = 0; r < network.ranks.size(); ++r)
    network.rank_of[network.ranks[r]] = Rank(r);
  network.weight = *std::move(weights);
  return network;
}

bool has_unequal_shares(const Network& network, Collective collective) {
  const bool has_owners =
      collective == Collective::allgather || collective == Collective::reduce_scatter;
  return has_owners && !network.weight.empty();
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
  return result;
}

}  // namespace forestcoll
