#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "solver/alltoall/methods.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// At first what a source sends is one piece; then it is halved so many times, and the halves that
// come last find their ways beside those of all others.
struct Pass {
  double exponent;
  int halvings;
};
constexpr Pass kPasses[] = {{8, 0}, {16, 4}, {16, 6}};
constexpr std::size_t kMostCapacities = 8;  // beyond, islands say little
constexpr double kLargestExponent = 60;     // sums of such prices still fit single precision

class LoadedTrees {
 public:
  LoadedTrees(const Instance& instance, const Ratio& at_most)
      : instance_(instance),
        graph_(instance.network.graph),
        load_(graph_.arc_count(), 0),
        flows_(instance.sources.size(), IdVector<ArcId, std::int64_t>(load_.size(), 0)),
        at_most_(at_most.to_double()),
        cost_(graph_.node_count(), 0) {
    for (const Source& source : instance.sources) needs_.push_back(instance.needs(source.rank));
    const auto& capacity = instance.network.capacity;
    const auto least = static_cast<double>(*std::ranges::min_element(capacity));
    for (std::size_t a = 0; a < load_.size(); ++a) {
      links_.push_back({.price = 0, .head = graph_.head(ArcId(a))});
      share_.push_back(at_most_ / static_cast<double>(capacity[ArcId(a)]));
      width_.push_back(least / static_cast<double>(capacity[ArcId(a)]));
    }
  }

  // Until that is near enough.
  void consider(double gap, Answer& answer) {
    for (const Pass& pass : kPasses) {
      begin(pass.exponent);
      const std::int64_t all = std::int64_t{1} << pass.halvings;
      for (int half = 0; half <= pass.halvings; ++half) {
        const bool is_last = half == pass.halvings;
        const Piece piece{.first = all - (all >> half),
                          .last = is_last ? all : all - (all >> (half + 1)),
                          .halvings = pass.halvings};
        for (std::size_t i = 0; i < flows_.size(); ++i) grow(i, piece);
      }
      answer.consider(instance_, flows_, 1);
      if (answer.is_near(gap)) return;
    }
  }

 private:
  // From this part to that, of 2^halvings.
  struct Piece {
    std::int64_t first, last;
    int halvings;
  };

  struct Link {
    float price;
    NodeId head;
  };

  void begin(double exponent) {
    exponent_ = exponent;
    std::ranges::fill(load_, 0.0);
    for (std::size_t a = 0; a < load_.size(); ++a) reprice(a);
    for (auto& flow : flows_) std::ranges::fill(flow, 0);
  }

  void reprice(std::size_t a) {
    const double over = load_[a] * share_[a] - 1;
    links_[a].price =
        static_cast<float>(std::exp(std::min(exponent_ * over, kLargestExponent)) * width_[a]);
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
    for (const NodeId v : order_) {
      if (behind[v] == 0) continue;
      const ArcId by = by_[v];
      flows_[i][by] += behind[v];
      behind[graph_.tail(by)] += behind[v];
      add(by.index(), static_cast<double>(behind[v]));
    }
  }

  // The piece of an amount. Of small ones, which have no such parts, some nodes' are in each piece.
  static void cut(std::int64_t& amount, std::size_t node, const Piece& piece) {
    const std::int64_t first = static_cast<std::int64_t>(node) & ((1 << piece.halvings) - 1);
    const auto up_to = [&](std::int64_t part) {
      return static_cast<std::int64_t>((static_cast<Int128>(amount) * part + first) >>
                                       piece.halvings);
    };
    if (amount > 0) amount = up_to(piece.last) - up_to(piece.first);
  }

  // Bellman's and Ford's, with a queue: with few hops between any two nodes it looks at a node
  // hardly more than once, and pays for no heap. Of equal paths the first found.
  void search(NodeId root) {
    cost_.assign(cost_.size(), std::numeric_limits<float>::infinity());
    by_.assign(cost_.size(), ArcId());
    is_waiting_.assign(cost_.size(), 0);
    queue_.assign(1, root);
    cost_[root] = 0;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const NodeId v = queue_[at];
      is_waiting_[v] = 0;
      for (ArcId a = graph_.first_out(v); a != graph_.last_out(v); ++a.value) {
        const Link& link = links_[a.index()];
        const float cost = cost_[v] + link.price;
        if (cost >= cost_[link.head]) continue;
        cost_[link.head] = cost;
        by_[link.head] = a;
        if (is_waiting_[link.head] != 0) continue;
        is_waiting_[link.head] = 1;
        queue_.push_back(link.head);
      }
    }
    order_by_children();
  }

  // Every node of the tree after all that are behind it.
  void order_by_children() {
    children_.assign(cost_.size(), 0);
    for (const ArcId by : by_) {
      if (by.valid()) ++children_[graph_.tail(by)];
    }
    order_.clear();
    for (std::size_t v = 0; v < by_.size(); ++v) {
      if (by_[NodeId(v)].valid() && children_[NodeId(v)] == 0) order_.push_back(NodeId(v));
    }
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const NodeId before = graph_.tail(by_[order_[at]]);
      if (--children_[before] == 0 && by_[before].valid()) order_.push_back(before);
    }
  }

  const Instance& instance_;
  const Digraph& graph_;
  // By arc: what it carries; what a unit is of what it can carry at the rate that is proved; how
  // narrow it is beside the narrowest.
  std::vector<double> load_, share_, width_;
  std::vector<Link> links_;
  std::vector<IdVector<NodeId, std::int64_t>> needs_;  // by source
  Flows flows_;
  double exponent_ = 0;
  double at_most_;  // the rate that is proved: at which no link carries more than it can
  // Of the search for one tree.
  IdVector<NodeId, float> cost_;
  IdVector<NodeId, ArcId> by_;
  IdVector<NodeId, char> is_waiting_;
  IdVector<NodeId, std::int32_t> children_;
  std::vector<NodeId> queue_, order_;
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
