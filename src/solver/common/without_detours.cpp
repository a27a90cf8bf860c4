#include "solver/common/without_detours.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "solver/common/peer_routes.hpp"

namespace forestcoll::solver {
namespace {

// Of sums of capacities times the ranks, as `Network` promises.
constexpr Int128 kMost = Int128{1} << 62;

// Which arcs out of its head some route takes after an arc.
using Outs = std::vector<bool>;

std::size_t degree_out(const Digraph& graph, NodeId v) {
  return static_cast<std::size_t>(graph.last_out(v).value - graph.first_out(v).value);
}

// What the routes of all pairs use.
class Turns {
 public:
  explicit Turns(const Network& network)
      : network_(network),
        used_(network.graph.arc_count(), 0),
        outs_(network.graph.arc_count()),
        passed_(network.graph.arc_count(), -1) {
    for (std::size_t a = 0; a < outs_.size(); ++a) {
      const NodeId head = network.graph.head(ArcId(a));
      if (!network.is_compute(head)) outs_[ArcId(a)].resize(degree_out(network.graph, head));
    }
    for (const NodeId peer : network.ranks) follow(peer);
  }

  [[nodiscard]] bool is_used(ArcId a) const { return used_[a] != 0; }
  [[nodiscard]] const Outs& after(ArcId a) const { return outs_[a]; }

 private:
  // All compute nodes send to the peer at once; what is farthest from it is looked at first.
  void follow(NodeId peer) {
    const Digraph& graph = network_.graph;
    const PeerRoutes routes(network_, peer);
    const auto near_to_far = routes.near_to_far();
    for (std::size_t i = near_to_far.size(); i-- > 1;) {
      const NodeId v = near_to_far[i];
      came_by_.clear();
      for (const ArcId a : graph.in(v)) {
        if (passed_[a] == peer.value) came_by_.push_back(a);
      }
      if (came_by_.empty() && !network_.is_compute(v)) continue;
      routes.visit_taken(v, [&](ArcId a) {
        used_[a] = 1;
        passed_[a] = peer.value;
        if (network_.is_compute(v)) return;
        const auto position = static_cast<std::size_t>(a.value - graph.first_out(v).value);
        for (const ArcId in : came_by_) outs_[in][position] = true;
      });
    }
  }

  const Network& network_;
  IdVector<ArcId, char> used_;
  IdVector<ArcId, Outs> outs_;
  IdVector<ArcId, std::int32_t> passed_;  // on the way to which peer last
  std::vector<ArcId> came_by_;
};

// The ways out of the piece of a switch that an arc leads to, by arc, as few different ones as may
// be: all the same with the way back, or what the routes take.
IdVector<ArcId, Outs> outs_on(const Network& network, const Turns& turns) {
  const Digraph& graph = network.graph;
  IdVector<ArcId, Outs> result(graph.arc_count());
  for (std::size_t n = 0; n < graph.node_count(); ++n) {
    const NodeId v(n);
    if (network.is_compute(v)) continue;
    std::set<Outs> taken, with_back;
    const auto and_back = [&](ArcId in) {
      Outs outs = turns.after(in);
      const ArcId back = graph.find(v, graph.tail(in));
      if (back.valid() && turns.is_used(back)) {
        outs[static_cast<std::size_t>(back.value - graph.first_out(v).value)] = true;
      }
      return outs;
    };
    for (const ArcId in : graph.in(v)) {
      if (!turns.is_used(in)) continue;
      taken.insert(turns.after(in));
      with_back.insert(and_back(in));
    }
    const bool back = with_back.size() < taken.size();
    for (const ArcId in : graph.in(v)) {
      if (turns.is_used(in)) result[in] = back ? and_back(in) : turns.after(in);
    }
  }
  return result;
}

// Puts the pieces together.
class Pieces {
 public:
  Pieces(const Network& network, const Turns& turns)
      : network_(network), turns_(turns), on_(outs_on(network, turns)) {
    for (std::size_t n = 0; n < network.graph.node_count(); ++n) original_.push_back(NodeId(n));
    pieces_.resize(original_.size());
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      if (turns.is_used(ArcId(a))) divide(ArcId(a));
    }
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      if (turns.is_used(ArcId(a))) link(ArcId(a));
    }
  }

  [[nodiscard]] bool are_whole() const {
    return original_.size() == network_.graph.node_count() &&
           arcs_.size() == network_.graph.arc_count();
  }

  [[nodiscard]] std::optional<RestrictedNetwork> join() && {
    RestrictedNetwork result{.network = {}, .original = std::move(original_)};
    Network& network = result.network;
    std::int64_t common = 0;
    Int128 all = 0;
    for (const Capacity capacity : capacity_) {
      common = std::gcd(common, capacity);
      all += capacity;
    }
    Int128 data = std::accumulate(network_.weight.begin(), network_.weight.end(), Int128{0});
    data = std::max(data, static_cast<Int128>(network_.ranks.size()));
    const auto unit = checked_mul(network_.unit, Ratio(common));
    if (!unit || all / common >= kMost / data) return std::nullopt;
    std::vector<std::size_t> order;
    network.graph = Digraph(result.original.size(), arcs_, &order);
    for (const std::size_t given : order) network.capacity.push_back(capacity_[given] / common);
    network.unit = *unit;
    network.ranks = network_.ranks;
    network.rank_of = network_.rank_of;
    network.rank_of.resize(result.original.size());
    network.weight = network_.weight;
    return result;
  }

 private:
  NodeId add(NodeId original) { return original_.push_back(original); }
  // The piece of its head that an arc leads to; the first one is the switch itself.
  void divide(ArcId a) {
    const NodeId head = network_.graph.head(a);
    if (network_.is_compute(head)) return;
    auto& pieces = pieces_[head];
    if (pieces.contains(on_[a])) return;
    pieces.emplace(on_[a], pieces.empty() ? head : add(head));
  }
  [[nodiscard]] NodeId end_of(ArcId a) const {
    const NodeId head = network_.graph.head(a);
    return network_.is_compute(head) ? head : pieces_[head].at(on_[a]);
  }
  [[nodiscard]] std::vector<NodeId> begins_of(ArcId a) const {
    const NodeId tail = network_.graph.tail(a);
    if (network_.is_compute(tail)) return {tail};
    const auto position = static_cast<std::size_t>(a.value - network_.graph.first_out(tail).value);
    std::vector<NodeId> begins;
    for (const auto& [outs, piece] : pieces_[tail]) {
      if (outs[position]) begins.push_back(piece);
    }
    return begins;
  }
  void link(ArcId a) {
    const std::vector<NodeId> begins = begins_of(a);
    NodeId last = end_of(a);
    if (begins.size() > 1) {
      const NodeId shared = add(NodeId());
      link(shared, last, a);
      last = shared;
    }
    for (const NodeId begin : begins) link(begin, last, a);
  }
  void link(NodeId begin, NodeId end, ArcId as) {
    arcs_.push_back({begin, end});
    capacity_.push_back(network_.capacity[as]);
  }

  const Network& network_;
  const Turns& turns_;
  IdVector<ArcId, Outs> on_;
  IdVector<NodeId, std::map<Outs, NodeId>> pieces_;
  IdVector<NodeId, NodeId> original_;
  std::vector<Arc> arcs_;
  std::vector<Capacity> capacity_;
};

}  // namespace

std::optional<RestrictedNetwork> without_detours(const Network& network) {
  const Turns turns(network);
  Pieces pieces(network, turns);
  if (pieces.are_whole()) return std::nullopt;
  return std::move(pieces).join();
}

}  // namespace forestcoll::solver
