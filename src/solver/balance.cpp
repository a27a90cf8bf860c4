#include "solver/balance.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "graph/sink_flow.hpp"
#include "solver/demand_check.hpp"
#include "solver/sink_order.hpp"

namespace forestcoll::solver {
namespace {

class Balancer {
 public:
  Balancer(const Digraph& graph, IdVector<ArcId, Capacity>& capacity,
           const IdVector<NodeId, Rank>& rank_of, std::span<const NodeId> compute,
           const IdVector<Rank, std::int64_t>& owed)
      : graph_(graph),
        capacity_(capacity),
        rank_of_(rank_of),
        flow_(graph),
        order_(locality_order(graph, capacity, compute, compute.front())),
        supply_(graph.node_count(), 0),
        demand_(std::accumulate(owed.begin(), owed.end(), std::int64_t{0})) {
    for (std::size_t r = 0; r < compute.size(); ++r) supply_[compute[r].index()] = owed[Rank(r)];
  }

  bool run() {
    bool lossless = true;
    std::set<NodeId> pending;
    for (std::size_t v = 0; v < graph_.node_count(); ++v) pending.insert(NodeId(v));
    while (!pending.empty()) {
      const NodeId v = *pending.begin();
      pending.erase(pending.begin());
      if (rank_of_[v].valid()) continue;
      for (const bool in : {true, false}) {
        const Capacity excess = side(v, in) - side(v, !in);
        if (excess > 0) lossless &= trim(v, in, excess, pending);
      }
    }
    return lossless;
  }

 private:
  [[nodiscard]] std::vector<ArcId> arcs(NodeId v, bool in) const {
    if (in) return {graph_.in(v).begin(), graph_.in(v).end()};
    std::vector<ArcId> out;
    for (ArcId a = graph_.first_out(v); a != graph_.last_out(v); ++a.value) out.push_back(a);
    return out;
  }

  [[nodiscard]] Capacity side(NodeId v, bool in) const {
    Capacity sum = 0;
    for (const ArcId a : arcs(v, in)) sum += capacity_[a];
    return sum;
  }

  // Takes `excess` from one side of `v`; true where the demand is still carried.
  bool trim(NodeId v, bool in, Capacity excess, std::set<NodeId>& pending) {
    std::vector<ArcId> candidates = arcs(v, in);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](ArcId a, ArcId b) { return capacity_[a] > capacity_[b]; });
    const auto lower = [&](ArcId a, Capacity by) {
      if (by == 0) return;
      capacity_[a] -= by;
      excess -= by;
      pending.insert(in ? graph_.tail(a) : graph_.head(a));
    };
    for (const ArcId a : candidates) lower(a, spare(a, std::min(excess, capacity_[a])));
    const bool lossless = excess == 0;
    for (const ArcId a : candidates) lower(a, std::min(excess, capacity_[a]));
    return lossless;
  }

  // The most, up to `wanted`, that the arc can lose while the demand is carried.
  Capacity spare(ArcId arc, Capacity wanted) {
    if (wanted == 0 || carries_without(arc, wanted)) return wanted;
    Capacity fits = 0, fails = wanted;
    while (fails - fits > 1) {
      const Capacity middle = fits + (fails - fits) / 2;
      (carries_without(arc, middle) ? fits : fails) = middle;
    }
    return fits;
  }

  bool carries_without(ArcId arc, Capacity less) {
    std::vector<std::int64_t> capacity(capacity_.begin(), capacity_.end());
    capacity[arc.index()] -= less;
    flow_.reset(capacity, supply_);
    return check_all(flow_, order_, demand_,
                     [](const SinkSide&) { return std::optional<std::int64_t>(); });
  }

  const Digraph& graph_;
  IdVector<ArcId, Capacity>& capacity_;
  const IdVector<NodeId, Rank>& rank_of_;
  graph::SinkFlow flow_;
  std::vector<NodeId> order_;
  std::vector<std::int64_t> supply_;
  std::int64_t demand_;
};

}  // namespace

bool is_balanced(const Digraph& graph, const IdVector<ArcId, Capacity>& capacity,
                 const IdVector<NodeId, Rank>& rank_of) {
  IdVector<NodeId, Capacity> excess(graph.node_count(), 0);
  for (std::size_t a = 0; a < graph.arc_count(); ++a) {
    excess[graph.head(ArcId(a))] += capacity[ArcId(a)];
    excess[graph.tail(ArcId(a))] -= capacity[ArcId(a)];
  }
  for (std::size_t v = 0; v < graph.node_count(); ++v) {
    if (!rank_of[NodeId(v)].valid() && excess[NodeId(v)] != 0) return false;
  }
  return true;
}

bool balance_switches(const Digraph& graph, IdVector<ArcId, Capacity>& capacity,
                      const IdVector<NodeId, Rank>& rank_of, std::span<const NodeId> compute,
                      const IdVector<Rank, std::int64_t>& owed) {
  return Balancer(graph, capacity, rank_of, compute, owed).run();
}

}  // namespace forestcoll::solver
