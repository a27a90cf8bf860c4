#include "solver/alltoall/instance/routing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace forestcoll::solver::alltoall {
namespace {

constexpr std::int64_t kUsualParts = std::int64_t{1} << 20;

// Sweeps in which all arcs count, and when they have done enough: so little is left of all.
constexpr int kSweeps = 12;
constexpr std::int64_t kLittle = 4096;

class Router {
 public:
  Router(const Instance& instance, const ArcLengths& lengths)
      : graph_(instance.network.graph), lengths_(lengths), place_(graph_.node_count(), 0) {}

  // `amounts` is what every node is to receive.
  template <class Weight>
  IdVector<ArcId, std::int64_t> run(NodeId source, IdVector<NodeId, std::int64_t> amounts,
                                    Weight&& weight) {
    distances_ = distances_from(graph_, lengths_, source);
    for (std::size_t i = 0; i < distances_.settled.size(); ++i) place_[distances_.settled[i]] = i;
    pending_ = std::move(amounts);
    pending_[source] = 0;
    flow_.assign(graph_.arc_count(), 0);
    const auto all = std::accumulate(pending_.begin(), pending_.end(), std::int64_t{0});
    const auto nearer = [&](ArcId a) {
      return place_[graph_.tail(a)] < place_[graph_.head(a)] ? weight(a) : 0.0;
    };
    for (int i = 0; i < kSweeps; ++i) {
      sweep(source, weight);
      const auto left = std::accumulate(pending_.begin(), pending_.end(), std::int64_t{0});
      if (left <= all / kLittle) break;
    }
    sweep(source, nearer);
    return std::move(flow_);
  }

 private:
  // What is pending comes over the arcs into a node, from far to near; what came over an arc from
  // a node that is farther waits there for the next sweep.
  template <class Weight>
  void sweep(NodeId source, Weight&& weight) {
    for (auto place = distances_.settled.rbegin(); place != distances_.settled.rend(); ++place) {
      const NodeId v = *place;
      if (v == source || pending_[v] == 0) continue;
      find_ins(v, weight);
      const std::int64_t amount = std::exchange(pending_[v], 0);
      std::int64_t left = amount;
      for (const auto& [a, share] : ins_) {
        // The last one takes what rounding leaves.
        const auto part =
            a == ins_.back().first
                ? left
                : std::min(left, static_cast<std::int64_t>(static_cast<double>(amount) * share));
        flow_[a] += part;
        left -= part;
        if (graph_.tail(a) != source) pending_[graph_.tail(a)] += part;
      }
    }
  }

  // The arcs into a node that carry something, and their shares; else the one that is on a shortest
  // path.
  template <class Weight>
  void find_ins(NodeId v, Weight&& weight) {
    ins_.clear();
    double sum = 0;
    for (const ArcId a : graph_.in(v)) {
      const double share = weight(a);
      if (!(share > 0)) continue;
      ins_.emplace_back(a, share);
      sum += share;
    }
    if (ins_.empty()) ins_.emplace_back(last_of_shortest_path(v), sum = 1);
    for (auto& [a, share] : ins_) share /= sum;
  }

  [[nodiscard]] ArcId last_of_shortest_path(NodeId v) const {
    ArcId shortest;
    for (const ArcId a : graph_.in(v)) {
      const NodeId u = graph_.tail(a);
      // Of what is not reached, nothing can be added to the distance.
      if (place_[u] >= place_[v] || distances_.to[u] > distances_.to[v] - lengths_[a]) continue;
      if (!shortest.valid() || place_[u] < place_[graph_.tail(shortest)]) shortest = a;
    }
    return shortest;
  }

  const Digraph& graph_;
  const ArcLengths& lengths_;
  Distances distances_;
  IdVector<NodeId, std::size_t> place_;     // from near to far
  IdVector<NodeId, std::int64_t> pending_;  // what a node is still to receive
  IdVector<ArcId, std::int64_t> flow_;
  std::vector<std::pair<ArcId, double>> ins_;
};

}  // namespace

std::int64_t most_parts(const Instance& instance) {
  std::int64_t most = 1;
  for (const Source& source : instance.sources) {
    const auto needs = instance.needs(source.rank);
    most = std::max(most, std::accumulate(needs.begin(), needs.end(), std::int64_t{0}));
  }
  return (std::int64_t{1} << 61) / most;
}

std::int64_t parts_for_routing(const Instance& instance) {
  return std::min(kUsualParts, most_parts(instance) / (kSweeps + 1));
}

Flows routed(const Instance& instance, const ArcLengths& lengths, const Proportions& proportions,
             std::int64_t parts) {
  Flows flows;
  Router router(instance, lengths);
  for (std::size_t i = 0; i < instance.sources.size(); ++i) {
    const Rank rank = instance.sources[i].rank;
    auto amounts = instance.needs(rank);
    for (std::int64_t& amount : amounts) amount *= parts;
    flows.push_back(router.run(instance.network.ranks[rank.index()], std::move(amounts),
                               [&](ArcId a) { return proportions(i, a); }));
  }
  return flows;
}

}  // namespace forestcoll::solver::alltoall
