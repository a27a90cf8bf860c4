#include "solver/alltoall/loaded_trees.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "solver/alltoall/cut.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// At first what a source sends is one piece; then it is halved so many times, and the halves that
// come last find their ways beside those of all others.
struct Pass {
  double exponent;
  int halvings;
};
constexpr Pass kPasses[] = {{8, 0}, {16, 4}};
constexpr std::size_t kMostCapacities = 8;  // beyond, islands say little
constexpr double kLargestExponent = 300;

class LoadedTrees {
 public:
  LoadedTrees(const Instance& instance, const Ratio& at_most)
      : instance_(instance),
        graph_(instance.network.graph),
        load_(graph_.arc_count(), 0),
        price_(load_.size(), 0),
        flows_(instance.sources.size(), IdVector<ArcId, std::int64_t>(load_.size(), 0)),
        at_most_(at_most.to_double()),
        cost_(graph_.node_count(), 0) {
    for (const Source& source : instance.sources) needs_.push_back(instance.needs(source.rank));
    for (std::size_t a = 0; a < load_.size(); ++a) {
      per_unit_.push_back(1 / static_cast<double>(instance.network.capacity[ArcId(a)]));
    }
  }

  // Until that is near enough.
  void consider(double gap, Answer& answer) {
    for (const Pass& pass : kPasses) {
      begin(pass.exponent);
      const std::int64_t all = std::int64_t{1} << pass.halvings;
      for (int half = 0; half <= pass.halvings; ++half) {
        const bool is_last = half == pass.halvings;
        const Piece piece{all - (all >> half), is_last ? all : all - (all >> (half + 1)), all};
        for (std::size_t i = 0; i < flows_.size(); ++i) grow(i, piece);
      }
      answer.consider(instance_, flows_, 1);
      if (answer.is_near(gap)) return;
    }
  }

 private:
  // From this part to that, of so many.
  struct Piece {
    std::int64_t first, last, all;
  };

  void begin(double exponent) {
    exponent_ = exponent;
    std::ranges::fill(load_, 0.0);
    for (std::size_t a = 0; a < load_.size(); ++a) reprice(a);
    for (auto& flow : flows_) std::ranges::fill(flow, 0);
  }

  void reprice(std::size_t a) {
    const double share = load_[a] * per_unit_[a] * at_most_;
    price_[a] = std::exp(std::min(exponent_ * (share - 1), kLargestExponent)) * per_unit_[a];
  }

  void add(std::size_t a, double amount) {
    load_[a] += amount;
    reprice(a);
  }

  // A tree for a piece of what a source sends.
  void grow(std::size_t i, const Piece& piece) {
    search(instance_.network.ranks[instance_.sources[i].rank.index()]);
    IdVector<NodeId, std::int64_t> behind = needs_[i];
    for (std::size_t v = 0; v < behind.size(); ++v) cut(behind[NodeId(v)], v, piece);
    for (std::size_t at = settled_.size(); at-- > 1;) {
      const NodeId v = settled_[at];
      if (behind[v] == 0) continue;
      const ArcId by = by_[v];
      flows_[i][by] += behind[v];
      behind[graph_.tail(by)] += behind[v];
      add(by.index(), static_cast<double>(behind[v]));
    }
  }

  // The piece of an amount. Of small ones, which have no such parts, some nodes' are in each piece.
  static void cut(std::int64_t& amount, std::size_t node, const Piece& piece) {
    const auto up_to = [&](std::int64_t part) {
      return static_cast<std::int64_t>(
          (static_cast<Int128>(amount) * part + static_cast<std::int64_t>(node) % piece.all) /
          piece.all);
    };
    if (amount > 0) amount = up_to(piece.last) - up_to(piece.first);
  }

  // Dijkstra's; of equal ones the arc of lower number.
  void search(NodeId root) {
    cost_.assign(cost_.size(), std::numeric_limits<double>::infinity());
    by_.assign(cost_.size(), ArcId());
    is_settled_.assign(cost_.size(), false);
    settled_.clear();
    queue_.assign(1, {0, root});
    cost_[root] = 0;
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
      const NodeId v = queue_.back().second;
      queue_.pop_back();
      if (is_settled_[v]) continue;
      is_settled_[v] = true;
      settled_.push_back(v);
      for (ArcId a = graph_.first_out(v); a != graph_.last_out(v); ++a.value) {
        const NodeId w = graph_.head(a);
        const double cost = cost_[v] + price_[a.index()];
        if (cost >= cost_[w]) continue;
        cost_[w] = cost;
        by_[w] = a;
        queue_.emplace_back(cost, w);
        std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
      }
    }
  }

  const Instance& instance_;
  const Digraph& graph_;
  std::vector<double> load_, price_, per_unit_;        // by arc
  std::vector<IdVector<NodeId, std::int64_t>> needs_;  // by source
  Flows flows_;
  double exponent_ = 0;
  double at_most_;  // the rate that is proved: at which no link carries more than it can
  // Of the search for one tree.
  IdVector<NodeId, double> cost_;
  IdVector<NodeId, ArcId> by_;
  IdVector<NodeId, bool> is_settled_;
  std::vector<NodeId> settled_;
  std::vector<std::pair<double, NodeId>> queue_;
};

// What links faster than some capacity join: boxes, where the network between them is slower.
std::vector<std::vector<bool>> islands(const Network& network, Capacity slow) {
  const Digraph& graph = network.graph;
  std::vector<std::vector<bool>> islands;
  std::vector<bool> seen(graph.node_count(), false);
  for (std::size_t v = 0; v < graph.node_count(); ++v) {
    if (seen[v]) continue;
    std::vector<NodeId> reached = {NodeId(v)};
    std::vector<bool> island(graph.node_count(), false);
    const auto reach = [&](NodeId w) {
      if (island[w.index()]) return;
      island[w.index()] = seen[w.index()] = true;
      reached.push_back(w);
    };
    island[v] = seen[v] = true;
    for (std::size_t at = 0; at < reached.size(); ++at) {
      const NodeId u = reached[at];
      for (ArcId a = graph.first_out(u); a != graph.last_out(u); ++a.value) {
        if (network.capacity[a] > slow) reach(graph.head(a));
      }
      for (const ArcId a : graph.in(u)) {
        if (network.capacity[a] > slow) reach(graph.tail(a));
      }
    }
    const bool has_ranks =
        std::ranges::any_of(reached, [&](NodeId u) { return network.is_compute(u); });
    if (has_ranks && reached.size() < graph.node_count()) islands.push_back(std::move(island));
  }
  return islands;
}

}  // namespace

void consider_islands(const Instance& instance, Answer& answer) {
  const Network& network = instance.network;
  std::vector<Capacity> capacities(network.capacity.begin(), network.capacity.end());
  std::sort(capacities.begin(), capacities.end());
  capacities.erase(std::unique(capacities.begin(), capacities.end()), capacities.end());
  if (capacities.size() > kMostCapacities) return;
  std::optional<Ratio> least;
  std::vector<bool> best;
  for (const Capacity slow : capacities) {
    for (std::vector<bool>& island : islands(network, slow)) {
      for (int side = 0; side < 2; ++side) {
        const auto rate = prove_by_cut(instance, island);
        if (rate && (!least || *rate < *least)) {
          least = rate;
          best = island;
        }
        island.flip();
      }
    }
  }
  if (!least || (answer.at_most && *least >= *answer.at_most)) return;
  answer.at_most = least;
  take_cut(instance, best, answer);
}

void consider_trees(const Instance& instance, double gap, Answer& answer) {
  if (answer.at_most && !answer.is_near(gap)) {
    LoadedTrees(instance, *answer.at_most).consider(gap, answer);
  }
}

}  // namespace forestcoll::solver::alltoall
