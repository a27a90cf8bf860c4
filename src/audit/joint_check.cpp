// The bound of lengths for several collectives at once.
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "audit/common/tree_costs.hpp"
#include "forestcoll/commodity.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

using audit::arborescence_costs;
using audit::ArcCosts;

using Whole = boost::multiprecision::cpp_int;
using WeightedGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                          boost::property<boost::edge_weight_t, Int128>>;

WeightedGraph graph_of(const Network& network, const ArcLengths& lengths) {
  WeightedGraph graph(network.graph.node_count());
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    boost::add_edge(arc.tail.index(), arc.head.index(), Int128{lengths[ArcId(a)]}, graph);
  }
  return graph;
}

// Those that pass a commodity's data on.
struct OpenNodes {
  const std::vector<bool>* open = nullptr;
  bool operator()(std::size_t v) const { return (*open)[v]; }
};

// Of a member that another does not reach.
constexpr Int128 kUnreached = Int128{1} << 95;

// By tail and head, shortest paths among the members; only members and nodes that pass their data
// on are on them.
ArcCosts metric_of(const Network& network, const Commodity& commodity, bool relays,
                   const WeightedGraph& lengths) {
  std::vector<bool> open(network.graph.node_count());
  for (std::size_t v = 0; v < open.size(); ++v) {
    open[v] = relays || !network.rank_of[NodeId(v)].valid();
  }
  for (const NodeId v : commodity.members) open[v.index()] = true;
  const boost::filtered_graph graph(lengths, boost::keep_all(), OpenNodes{&open});
  ArcCosts metric;
  std::vector<Int128> distance(open.size());
  for (const NodeId from : commodity.members) {
    boost::dijkstra_shortest_paths(graph, from.index(),
                                   boost::distance_map(distance.data())
                                       .distance_inf(kUnreached)
                                       .distance_zero(Int128{0})
                                       .distance_combine(boost::closed_plus<Int128>(kUnreached)));
    auto& row = metric.emplace_back();
    for (const NodeId to : commodity.members) row.push_back(distance[to.index()]);
  }
  return metric;
}

ArcCosts turned_round(const ArcCosts& metric) {
  ArcCosts turned(metric.size(), std::vector<Int128>(metric.size()));
  for (std::size_t u = 0; u < metric.size(); ++u) {
    for (std::size_t v = 0; v < metric.size(); ++v) turned[v][u] = metric[u][v];
  }
  return turned;
}

// By root, what the cheapest tree of this direction costs.
std::vector<Int128> tree_costs(const ArcCosts& metric, bool outwards) {
  return arborescence_costs(outwards ? turned_round(metric) : metric);
}

Whole least_cost(const Commodity& commodity, const ArcCosts& metric) {
  const std::size_t n = metric.size();
  Whole sum = 0;
  switch (commodity.kind) {
    case Commodity::Kind::broadcast:
    case Commodity::Kind::reduce: {
      const auto cost = tree_costs(metric, commodity.kind == Commodity::Kind::broadcast);
      for (std::size_t r = 0; r < n; ++r) sum += Whole(commodity.amounts[r]) * Whole(cost[r]);
      return sum;
    }
    case Commodity::Kind::allreduce: {
      const auto out = tree_costs(metric, true), in = tree_costs(metric, false);
      Int128 least = out.front() + in.front();
      for (std::size_t r = 1; r < n; ++r) least = std::min(least, out[r] + in[r]);
      return Whole(commodity.amounts.front()) * Whole(least);
    }
    case Commodity::Kind::paths:
      break;
  }
  for (std::size_t i = 0; i < n * n; ++i) {
    sum += Whole(commodity.amounts[i]) * Whole(metric[i / n][i % n]);
  }
  return sum;
}

std::optional<Ratio> in_lowest_terms(const Whole& num, const Whole& den) {
  const Whole common = boost::multiprecision::gcd(num, den);
  const Whole most = std::numeric_limits<std::int64_t>::max();
  if (num / common > most || den / common > most) return std::nullopt;
  return Ratio(static_cast<std::int64_t>(num / common), static_cast<std::int64_t>(den / common));
}

}  // namespace

std::optional<Ratio> joint_rate_by_lengths(const Network& network, const JointDemand& demand,
                                           const ArcLengths& lengths,
                                           std::span<const std::int64_t> of_limits) {
  if (lengths.size() != network.graph.arc_count()) return std::nullopt;
  if (of_limits.size() != network.limits.size()) return std::nullopt;
  Whole room = 0, covered = 0;
  ArcLengths all = lengths;  // with the limits' on their arcs
  for (std::size_t a = 0; a < lengths.size(); ++a) {
    if (lengths[ArcId(a)] < 0) return std::nullopt;
    room += Whole(network.capacity[ArcId(a)]) * lengths[ArcId(a)];
  }
  for (std::size_t l = 0; l < of_limits.size(); ++l) {
    if (of_limits[l] < 0) return std::nullopt;
    room += Whole(network.limits[l].capacity) * of_limits[l];
    for (const auto& [arc, weight] : network.limits[l].uses) {
      std::int64_t more = 0;
      if (__builtin_mul_overflow(weight, of_limits[l], &more) ||
          __builtin_add_overflow(all[arc], more, &all[arc])) {
        return std::nullopt;
      }
    }
  }
  const WeightedGraph graph = graph_of(network, all);
  for (const auto& commodities : demand.operations) {
    for (const Commodity& commodity : commodities) {
      covered += least_cost(commodity, metric_of(network, commodity, demand.relays, graph));
    }
  }
  if (covered == 0) return std::nullopt;
  return in_lowest_terms(room * demand.whole() * network.unit.num(), covered * network.unit.den());
}

}  // namespace forestcoll
