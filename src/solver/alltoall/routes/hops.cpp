#include "solver/alltoall/routes/hops.hpp"

#include <map>
#include <utility>

#include "solver/common/peer_routes.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// What of the data from a node to the peer passes each link.
std::vector<LinkShare> shares_from(NodeId from, const PeerRoutes& routes, const Network& network) {
  std::map<std::pair<std::int32_t, NodeId>, double> amounts;  // far nodes first
  amounts[{-routes.hops_from(from), from}] = 1;
  std::vector<LinkShare> shares;
  while (amounts.begin()->first.first < 0) {
    // By name: clang 14 lets no lambda use structured bindings.
    const auto at = amounts.begin()->first;
    const double amount = amounts.begin()->second;
    amounts.erase(amounts.begin());
    Capacity total = 0;
    routes.visit_taken(at.second, [&](ArcId a) { total += routes.width(a); });
    routes.visit_taken(at.second, [&](ArcId a) {
      const double share =
          amount * static_cast<double>(routes.width(a)) / static_cast<double>(total);
      shares.push_back({a, share});
      amounts[{at.first + 1, network.graph.head(a)}] += share;
    });
  }
  return shares;
}

}  // namespace

Hops link_hops(const Network& network) {
  Hops hops{network.graph, {}, {}};
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    hops.begin.push_back(a);
    hops.shares.push_back({ArcId(a), 1});
  }
  hops.begin.push_back(hops.shares.size());
  return hops;
}

Hops peer_hops(const Network& network) {
  std::vector<Arc> arcs;
  std::vector<std::vector<LinkShare>> shares;
  for (const NodeId peer : network.ranks) {
    const PeerRoutes routes(network, peer);
    for (const NodeId from : network.ranks) {
      if (from == peer || !routes.lead_from(from)) continue;
      arcs.push_back({from, peer});
      shares.push_back(shares_from(from, routes, network));
    }
  }
  std::vector<std::size_t> order;
  Hops hops{Digraph(network.graph.node_count(), arcs, &order), {}, {}};
  for (const std::size_t given : order) {
    hops.begin.push_back(hops.shares.size());
    hops.shares.insert(hops.shares.end(), shares[given].begin(), shares[given].end());
  }
  hops.begin.push_back(hops.shares.size());
  return hops;
}

}  // namespace forestcoll::solver::alltoall
