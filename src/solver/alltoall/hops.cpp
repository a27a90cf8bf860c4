#include "solver/alltoall/hops.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace forestcoll::solver::alltoall {
namespace {

constexpr std::int32_t kNoWay = std::numeric_limits<std::int32_t>::max();

// The routes to one compute node through switches alone.
class RoutesToPeer {
 public:
  RoutesToPeer(const Network& network, NodeId peer)
      : network_(network),
        graph_(network.graph),
        distance_(graph_.node_count(), kNoWay),
        width_(graph_.node_count(), 0) {
    distance_[peer] = 0;
    width_[peer] = std::numeric_limits<Capacity>::max();
    near_to_far_.push_back(peer);
    for (std::size_t i = 0; i < near_to_far_.size(); ++i) {
      const NodeId v = near_to_far_[i];
      if (v != peer) width_[v] = total_width(v);
      if (v != peer && network.is_compute(v)) continue;
      for (const ArcId a : graph_.in(v)) {
        const NodeId u = graph_.tail(a);
        if (distance_[u] != kNoWay) continue;
        distance_[u] = distance_[v] + 1;
        near_to_far_.push_back(u);
      }
    }
  }

  [[nodiscard]] bool lead_from(NodeId v) const { return distance_[v] != kNoWay; }

  // What of the data from a node passes each link, by link.
  [[nodiscard]] std::vector<LinkShare> shares_from(NodeId from) const {
    std::map<std::pair<std::int32_t, NodeId>, double> amounts;  // far nodes first
    amounts[{-distance_[from], from}] = 1;
    std::vector<LinkShare> shares;
    while (amounts.begin()->first.first < 0) {
      // By name: clang 14 lets no lambda use structured bindings.
      const auto at = amounts.begin()->first;
      const double amount = amounts.begin()->second;
      amounts.erase(amounts.begin());
      const NodeId v = at.second;
      Capacity widest = 0, total = 0;
      visit_next(v, [&](ArcId a) { widest = std::max(widest, width(a)); });
      const auto is_used = [&](ArcId a) { return !network_.is_compute(v) || width(a) == widest; };
      visit_next(v, [&](ArcId a) { total += is_used(a) ? width(a) : 0; });
      visit_next(v, [&](ArcId a) {
        if (!is_used(a)) return;
        const double share = amount * static_cast<double>(width(a)) / static_cast<double>(total);
        shares.push_back({a, share});
        amounts[{at.first + 1, graph_.head(a)}] += share;
      });
    }
    return shares;
  }

 private:
  [[nodiscard]] Capacity width(ArcId a) const {
    return std::min(network_.capacity[a], width_[graph_.head(a)]);
  }
  template <class Visit>
  void visit_next(NodeId v, Visit visit) const {
    for (ArcId a = graph_.first_out(v); a != graph_.last_out(v); ++a.value) {
      const NodeId w = graph_.head(a);
      if (distance_[w] == kNoWay || distance_[w] + 1 != distance_[v]) continue;
      if (distance_[w] == 0 || !network_.is_compute(w)) visit(a);
    }
  }
  [[nodiscard]] Capacity total_width(NodeId v) const {
    Capacity total = 0;
    visit_next(v, [&](ArcId a) { total += width(a); });
    return total;
  }

  const Network& network_;
  const Digraph& graph_;
  IdVector<NodeId, std::int32_t> distance_;
  IdVector<NodeId, Capacity> width_;
  std::vector<NodeId> near_to_far_;
};

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
    const RoutesToPeer routes(network, peer);
    for (const NodeId from : network.ranks) {
      if (from == peer || !routes.lead_from(from)) continue;
      arcs.push_back({from, peer});
      shares.push_back(routes.shares_from(from));
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
