#include "solver/alltoall/routing.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

namespace forestcoll::solver::alltoall {
namespace {

class Router {
 public:
  Router(const Instance& instance, const ArcLengths& lengths)
      : graph_(instance.network.graph), lengths_(lengths), place_(graph_.node_count(), 0) {}

  // `amounts` is what every node is to receive.
  template <class Weight>
  IdVector<ArcId, std::int64_t> run(NodeId source, IdVector<NodeId, std::int64_t> amounts,
                                    Weight&& weight) {
    const Distances distances = distances_from(graph_, lengths_, source);
    for (std::size_t i = 0; i < distances.settled.size(); ++i) place_[distances.settled[i]] = i;
    IdVector<ArcId, std::int64_t> flow(graph_.arc_count(), 0);
    for (const NodeId v : distances.settled | std::views::reverse) {
      if (v == source || amounts[v] == 0) continue;
      find_ways(v, distances, weight);
      std::int64_t left = amounts[v];
      for (const auto& [a, share] : ways_) {
        // The last one takes what rounding leaves.
        const bool last = a == ways_.back().first;
        const auto part = last ? left
                               : std::min(left, static_cast<std::int64_t>(
                                                    static_cast<double>(amounts[v]) * share));
        flow[a] = part;
        amounts[graph_.tail(a)] += part;
        left -= part;
      }
    }
    return flow;
  }

 private:
  // The arcs from nearer nodes that carry something, and their shares.
  template <class Weight>
  void find_ways(NodeId v, const Distances& distances, Weight&& weight) {
    ways_.clear();
    double sum = 0;
    std::pair<std::int64_t, std::size_t> nearest;
    ArcId shortest;
    for (const ArcId a : graph_.in(v)) {
      const NodeId u = graph_.tail(a);
      if (place_[u] >= place_[v]) continue;
      const std::pair reached{distances.to[u] + lengths_[a], place_[u]};
      if (!shortest.valid() || reached < nearest) {
        nearest = reached;
        shortest = a;
      }
      const double share = weight(a);
      if (!(share > 0)) continue;
      ways_.emplace_back(a, share);
      sum += share;
    }
    if (ways_.empty()) ways_.emplace_back(shortest, sum = 1);
    for (auto& [a, share] : ways_) share /= sum;
  }

  const Digraph& graph_;
  const ArcLengths& lengths_;
  IdVector<NodeId, std::size_t> place_;  // from near to far
  std::vector<std::pair<ArcId, double>> ways_;
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
