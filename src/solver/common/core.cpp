#include "solver/common/core.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <utility>

namespace forestcoll::solver {
namespace {

struct WorkArc {
  NodeId tail, head;
  Capacity capacity = 0;
  std::vector<NodeId> inner;  ///< contracted switches on the way
  bool alive = true;
};

// The live arcs at each node while switches are contracted one after another.
class Contraction {
 public:
  Contraction(const Network& network, const IdVector<ArcId, Capacity>& capacity)
      : network_(network), at_(network.graph.node_count()) {
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      if (capacity[ArcId(a)] > 0) {
        add({network.graph.tail(ArcId(a)),
             network.graph.head(ArcId(a)),
             capacity[ArcId(a)],
             {},
             true});
      }
    }
  }

  std::vector<WorkArc> run() {
    std::vector<NodeId> pending;
    for (std::size_t v = network_.graph.node_count(); v-- > 0;) pending.push_back(NodeId(v));
    while (!pending.empty()) {
      const NodeId v = pending.back();
      pending.pop_back();
      if (network_.is_compute(v)) continue;
      for (const NodeId neighbour : contract(v)) pending.push_back(neighbour);
    }
    std::erase_if(arcs_, [](const WorkArc& arc) { return !arc.alive; });
    return std::move(arcs_);
  }

 private:
  void add(WorkArc arc) {
    at_[arc.tail].push_back(arcs_.size());
    at_[arc.head].push_back(arcs_.size());
    arcs_.push_back(std::move(arc));
  }

  // Removes switch `v` where it has at most two neighbours; returns those that lost arcs.
  std::vector<NodeId> contract(NodeId v) {
    auto& incident = at_[v];
    std::map<NodeId, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> sides;
    // A switch of thousands of ports is asked again whenever one of its neighbours went: it answers
    // at the third neighbour that it has left, and what is gone is passed once.
    for (auto at = incident.begin(); at != incident.end();) {
      const std::size_t a = *at;
      if (!arcs_[a].alive) {
        at = incident.erase(at);
        continue;
      }
      const bool enters = arcs_[a].head == v;
      auto& side = sides[enters ? arcs_[a].tail : arcs_[a].head];
      (enters ? side.first : side.second).push_back(a);
      if (sides.size() > 2) return {};
      ++at;
    }
    if (incident.empty()) return {};
    std::vector<NodeId> neighbours;
    for (const auto& [neighbour, side] : sides) neighbours.push_back(neighbour);
    if (neighbours.size() == 2) {
      join(v, sides[neighbours[0]].first, sides[neighbours[1]].second);
      join(v, sides[neighbours[1]].first, sides[neighbours[0]].second);
    }
    for (const std::size_t a : incident) arcs_[a].alive = false;
    incident.clear();
    return neighbours;
  }

  // Pairs off the capacity of `into` with that of `out_of`; one of the two is used up.
  void join(NodeId v, const std::vector<std::size_t>& into,
            const std::vector<std::size_t>& out_of) {
    std::size_t i = 0, o = 0;
    while (i < into.size() && o < out_of.size()) {
      WorkArc& first = arcs_[into[i]];
      WorkArc& second = arcs_[out_of[o]];
      const Capacity both = std::min(first.capacity, second.capacity);
      WorkArc joined{first.tail, second.head, both, first.inner, true};
      joined.inner.push_back(v);
      joined.inner.insert(joined.inner.end(), second.inner.begin(), second.inner.end());
      first.capacity -= both;
      second.capacity -= both;
      if (first.capacity == 0) ++i;
      if (second.capacity == 0) ++o;
      add(std::move(joined));
    }
  }

  const Network& network_;
  std::vector<WorkArc> arcs_;
  IdVector<NodeId, std::list<std::size_t>> at_;  // lists, as the dead are taken out on the way
};

}  // namespace

Core plain_core(const Network& network) {
  Core core{network.graph, network.capacity, network.ranks, network.rank_of, {}, {0}};
  for (const Arc& arc : network.graph.arcs()) {
    core.segment_nodes.push_back(arc.head);
    core.segment_begin.push_back(static_cast<std::int64_t>(core.segment_nodes.size()));
  }
  return core;
}

Core make_core(const Network& network, const IdVector<ArcId, Capacity>& capacity) {
  const std::vector<WorkArc> work = Contraction(network, capacity).run();
  std::vector<Arc> arcs;
  arcs.reserve(work.size());
  for (const WorkArc& arc : work) arcs.push_back({arc.tail, arc.head});

  Core core;
  std::vector<std::size_t> order;
  core.graph = Digraph(network.graph.node_count(), arcs, &order);
  core.compute = network.ranks;
  core.rank_of = network.rank_of;
  core.segment_begin.push_back(0);
  for (const std::size_t i : order) {
    core.capacity.push_back(work[i].capacity);
    core.segment_nodes.insert(core.segment_nodes.end(), work[i].inner.begin(), work[i].inner.end());
    core.segment_nodes.push_back(work[i].head);
    core.segment_begin.push_back(static_cast<std::int64_t>(core.segment_nodes.size()));
  }
  return core;
}

}  // namespace forestcoll::solver
