#include "solver/joint/lengths_bound.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "solver/common/dijkstra.hpp"
#include "solver/joint/arborescence.hpp"

namespace forestcoll::solver {
namespace {

class CostOfLengths {
 public:
  CostOfLengths(const Network& network, bool relays, const ArcLengths& lengths)
      : network_(network), relays_(relays), lengths_(lengths) {}

  // What the commodity's data covers at least, amount times length; nothing where that overflows.
  std::optional<Int128> of(const Commodity& commodity) {
    const std::vector<std::int64_t> metric = distances(commodity.members);
    const std::size_t n = commodity.members.size();
    using Kind = Commodity::Kind;
    switch (commodity.kind) {
      case Kind::broadcast:
        return of_trees(commodity.amounts, metric, n);
      case Kind::reduce:
        return of_trees(commodity.amounts, transposed(metric, n), n);
      case Kind::allreduce:
        return of_any_root(commodity.amounts.front(), metric, n);
      case Kind::paths:
        break;
    }
    return sum_of_products(commodity.amounts, metric);
  }

 private:
  // From every member to every other, through nodes that pass the commodity's data on.
  std::vector<std::int64_t> distances(const std::vector<NodeId>& members) {
    IdVector<NodeId, bool> open(network_.graph.node_count(), false);
    for (std::size_t v = 0; v < open.size(); ++v) {
      open[NodeId(v)] = passes_on(network_, NodeId(v), false, relays_);
    }
    for (const NodeId v : members) open[v] = true;
    std::vector<std::int64_t> metric;
    for (const NodeId from : members) {
      const Digraph& graph = network_.graph;
      dijkstra_.run(graph.node_count(), from, [&](NodeId v, std::int64_t distance) {
        for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
          if (open[graph.head(a)]) dijkstra_.reach(graph.head(a), a, distance + lengths_[a]);
        }
        return true;
      });
      for (const NodeId to : members) metric.push_back(dijkstra_.distance(to));
    }
    return metric;
  }

  static std::vector<std::int64_t> transposed(const std::vector<std::int64_t>& metric,
                                              std::size_t n) {
    std::vector<std::int64_t> other(metric.size());
    for (std::size_t i = 0; i < metric.size(); ++i) other[i % n * n + i / n] = metric[i];
    return other;
  }

  static std::optional<Int128> sum_of_products(const std::vector<std::int64_t>& amounts,
                                               const std::vector<std::int64_t>& costs) {
    Int128 sum = 0;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const Int128 product = static_cast<Int128>(amounts[i]) * costs[i];
      if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
    }
    return sum;
  }

  static std::optional<Int128> of_trees(const std::vector<std::int64_t>& amounts,
                                        const std::vector<std::int64_t>& metric, std::size_t n) {
    std::vector<std::int64_t> costs(n, 0);
    for (std::size_t r = 0; r < n; ++r) {
      if (amounts[r] > 0) costs[r] = arborescence_cost(metric, n, r);
    }
    return sum_of_products(amounts, costs);
  }

  static Int128 of_any_root(std::int64_t amount, const std::vector<std::int64_t>& metric,
                            std::size_t n) {
    const auto back = transposed(metric, n);
    std::optional<std::int64_t> least;
    for (std::size_t r = 0; r < n; ++r) {
      const std::int64_t both = arborescence_cost(metric, n, r) + arborescence_cost(back, n, r);
      least = std::min(least.value_or(both), both);
    }
    return static_cast<Int128>(amount) * *least;
  }

  const Network& network_;
  bool relays_;
  const ArcLengths& lengths_;
  Dijkstra dijkstra_;
};

Int128 common_divisor(Int128 a, Int128 b) {
  while (b != 0) {
    a %= b;
    std::swap(a, b);
  }
  return a;
}

}  // namespace

std::optional<Ratio> bound_by_lengths(const Network& network, const JointDemand& demand,
                                      const ArcLengths& lengths) {
  Int128 room = 0, covered = 0;
  for (std::size_t a = 0; a < lengths.size(); ++a) {
    room += static_cast<Int128>(network.capacity[ArcId(a)]) * lengths[ArcId(a)];
  }
  CostOfLengths cost(network, demand.relays, lengths);
  for (const auto& commodities : demand.operations) {
    for (const Commodity& commodity : commodities) {
      const auto part = cost.of(commodity);
      if (!part || __builtin_add_overflow(covered, *part, &covered)) return std::nullopt;
    }
  }
  if (covered == 0) return std::nullopt;
  const Int128 common = common_divisor(covered, demand.whole());
  Int128 num = 0;
  if (__builtin_mul_overflow(room, demand.whole() / common, &num)) return std::nullopt;
  return Ratio::reduced(num, covered / common);
}

}  // namespace forestcoll::solver
