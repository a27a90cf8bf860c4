#include "forest/peer_loads.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace forestcoll {
namespace {

/// All ways of the fewest hops that lead to one receiver.
struct WaysTo {
  std::vector<NodeId> nodes;  ///< nearest first; the receiver is the first
  IdVector<NodeId, std::int32_t> hops;
  IdVector<NodeId, Capacity> width;              ///< of all ways of a node together
  IdVector<NodeId, std::vector<ArcId>> onwards;  ///< the first links of these ways
};

WaysTo ways_to(const Network& network, NodeId receiver) {
  constexpr std::int32_t kNone = -1;
  const std::size_t count = network.graph.node_count();
  WaysTo ways;
  ways.nodes.push_back(receiver);
  ways.hops.assign(count, kNone);
  ways.width.assign(count, 0);
  ways.onwards.resize(count);
  ways.hops[receiver] = 0;
  ways.width[receiver] = std::numeric_limits<Capacity>::max();
  for (std::size_t i = 0; i < ways.nodes.size(); ++i) {
    const NodeId head = ways.nodes[i];
    if (head != receiver && network.is_compute(head)) continue;  // a rank passes nothing on
    for (const ArcId arc : network.graph.in(head)) {
      const NodeId tail = network.graph.tail(arc);
      if (ways.hops[tail] == kNone) {
        ways.hops[tail] = ways.hops[head] + 1;
        ways.nodes.push_back(tail);
      }
      if (ways.hops[tail] != ways.hops[head] + 1) continue;
      ways.onwards[tail].push_back(arc);
      ways.width[tail] += std::min(network.capacity[arc], ways.width[head]);
    }
  }
  return ways;
}

// Adds to `loads` what nodes pass on of `held`, those furthest away first; false on overflow.
bool pass_on(const Network& network, const WaysTo& ways, IdVector<NodeId, Ratio> held,
             IdVector<ArcId, Ratio>& loads) {
  const auto width = [&](ArcId arc) {
    return std::min(network.capacity[arc], ways.width[network.graph.head(arc)]);
  };
  for (std::size_t i = ways.nodes.size(); i-- > 1;) {
    const NodeId node = ways.nodes[i];
    if (held[node] == Ratio(0)) continue;
    std::vector<ArcId> used = ways.onwards[node];
    if (network.is_compute(node)) {
      const Capacity widest = width(*std::ranges::max_element(used, {}, width));
      std::erase_if(used, [&](ArcId arc) { return width(arc) < widest; });
    }
    Capacity total = 0;
    for (const ArcId arc : used) total += width(arc);
    for (const ArcId arc : used) {
      const auto part = checked_mul(held[node], Ratio(width(arc), total));
      const auto load = part ? checked_add(loads[arc], *part) : std::nullopt;
      Ratio& next = held[network.graph.head(arc)];
      const auto passed = part ? checked_add(next, *part) : std::nullopt;
      if (!load || !passed) return false;
      loads[arc] = *load;
      next = *passed;
    }
  }
  return true;
}

}  // namespace

std::optional<IdVector<ArcId, Ratio>> peer_loads(const Network& network,
                                                 const PeerTransfers& transfers) {
  IdVector<Rank, std::vector<std::pair<Rank, std::int64_t>>> received(network.ranks.size());
  for (const auto& [ends, shares] : transfers) {
    received[ends.second].emplace_back(ends.first, shares);
  }
  IdVector<ArcId, Ratio> loads(network.graph.arc_count(), Ratio(0));
  for (std::size_t r = 0; r < received.size(); ++r) {
    const auto& from = received[Rank(r)];
    if (from.empty()) continue;
    const WaysTo ways = ways_to(network, network.ranks[r]);
    IdVector<NodeId, Ratio> held(network.graph.node_count(), Ratio(0));
    for (const auto& [sender, shares] : from) {
      const NodeId node = network.ranks[static_cast<std::size_t>(sender.value)];
      if (ways.onwards[node].empty()) return std::nullopt;
      held[node] = Ratio(shares);
    }
    if (!pass_on(network, ways, std::move(held), loads)) return std::nullopt;
  }
  return loads;
}

}  // namespace forestcoll
