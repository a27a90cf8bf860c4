#include "solver/common/peer_loads.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "solver/common/peer_routes.hpp"

namespace forestcoll::solver {
namespace {

// Adds to `loads` what nodes pass on of `held`, those furthest away first; false on overflow.
bool pass_on(const Network& network, const PeerRoutes& routes, IdVector<NodeId, Ratio> held,
             IdVector<ArcId, Ratio>& loads) {
  const auto nodes = routes.near_to_far();
  for (std::size_t i = nodes.size(); i-- > 1;) {
    const NodeId node = nodes[i];
    if (held[node] == Ratio(0)) continue;
    Capacity total = 0;
    routes.visit_taken(node, [&](ArcId arc) { total += routes.width(arc); });
    bool fits = true;
    routes.visit_taken(node, [&](ArcId arc) {
      const auto part = checked_mul(held[node], Ratio(routes.width(arc), total));
      Ratio& next = held[network.graph.head(arc)];
      const auto load = part ? checked_add(loads[arc], *part) : std::nullopt;
      const auto passed = part ? checked_add(next, *part) : std::nullopt;
      fits &= load && passed;
      if (!fits) return;
      loads[arc] = *load;
      next = *passed;
    });
    if (!fits) return false;
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
    const PeerRoutes routes(network, network.ranks[r]);
    IdVector<NodeId, Ratio> held(network.graph.node_count(), Ratio(0));
    for (const auto& [sender, shares] : from) {
      const NodeId node = network.ranks[sender.index()];
      if (!routes.lead_from(node)) return std::nullopt;
      held[node] = Ratio(shares);
    }
    if (!pass_on(network, routes, std::move(held), loads)) return std::nullopt;
  }
  return loads;
}

}  // namespace forestcoll::solver
