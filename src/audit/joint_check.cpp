// The bound of lengths for several collectives at once. The cheapest arborescence is found from its
// dual side (Bock 1971; Fulkerson 1974): while nodes are not reached from the root by arcs of cost
// 0, take a set of them that no arc of cost 0 enters, make all arcs that enter it cheaper by what
// the cheapest of them costs, and count that: every arborescence enters the set.
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/commodity.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

using Whole = boost::multiprecision::cpp_int;
using WeightedGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                          boost::property<boost::edge_weight_t, std::int64_t>>;
using PlainGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

/// By tail and head.
using Metric = std::vector<std::vector<Whole>>;

// One component of the arcs of cost 0 that none of them enters and the root is not in; empty where
// there is none.
std::vector<bool> unreached_part(const Metric& cost, std::size_t root) {
  const std::size_t n = cost.size();
  PlainGraph free(n);
  for (std::size_t u = 0; u < n; ++u) {
    for (std::size_t v = 0; v < n; ++v) {
      if (u != v && cost[u][v] == 0) boost::add_edge(u, v, free);
    }
  }
  std::vector<std::size_t> part(n);
  const std::size_t parts = boost::strong_components(free, part.data());
  std::vector<bool> entered(parts, false);
  entered[part[root]] = true;
  for (std::size_t u = 0; u < n; ++u) {
    for (std::size_t v = 0; v < n; ++v) {
      if (part[u] != part[v] && cost[u][v] == 0) entered[part[v]] = true;
    }
  }
  for (std::size_t p = 0; p < parts; ++p) {
    if (entered[p]) continue;
    std::vector<bool> members(n);
    for (std::size_t v = 0; v < n; ++v) members[v] = part[v] == p;
    return members;
  }
  return {};
}

Whole cheapest_arborescence(Metric cost, std::size_t root) {
  const std::size_t n = cost.size();
  Whole total = 0;
  for (auto inside = unreached_part(cost, root); !inside.empty();
       inside = unreached_part(cost, root)) {
    std::optional<Whole> least;
    for (std::size_t u = 0; u < n; ++u) {
      for (std::size_t v = 0; v < n; ++v) {
        if (!inside[u] && inside[v] && (!least || cost[u][v] < *least)) least = cost[u][v];
      }
    }
    for (std::size_t u = 0; u < n; ++u) {
      for (std::size_t v = 0; v < n; ++v) {
        if (!inside[u] && inside[v]) cost[u][v] -= *least;
      }
    }
    total += *least;
  }
  return total;
}

Metric turned_round(const Metric& metric) {
  Metric turned(metric.size(), std::vector<Whole>(metric.size()));
  for (std::size_t u = 0; u < metric.size(); ++u) {
    for (std::size_t v = 0; v < metric.size(); ++v) turned[v][u] = metric[u][v];
  }
  return turned;
}

// Shortest paths among the members; only members and nodes that pass their data on are in the
// graph.
Metric metric_of(const Network& network, const Commodity& commodity, bool relays,
                 const ArcLengths& lengths) {
  std::vector<bool> open(network.graph.node_count());
  for (std::size_t v = 0; v < open.size(); ++v) {
    open[v] = relays || !network.rank_of[NodeId(v)].valid();
  }
  for (const NodeId v : commodity.members) open[v.index()] = true;
  WeightedGraph graph(open.size());
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    if (!open[arc.tail.index()] || !open[arc.head.index()]) continue;
    boost::add_edge(arc.tail.index(), arc.head.index(), lengths[ArcId(a)], graph);
  }
  Metric metric;
  for (const NodeId from : commodity.members) {
    std::vector<std::int64_t> distance(open.size());
    boost::dijkstra_shortest_paths(graph, from.index(), boost::distance_map(distance.data()));
    auto& row = metric.emplace_back();
    for (const NodeId to : commodity.members) row.emplace_back(distance[to.index()]);
  }
  return metric;
}

Whole least_cost(const Commodity& commodity, const Metric& metric) {
  const std::size_t n = metric.size();
  Whole sum = 0;
  switch (commodity.kind) {
    case Commodity::Kind::broadcast:
    case Commodity::Kind::reduce: {
      const bool reduce = commodity.kind == Commodity::Kind::reduce;
      const Metric directed = reduce ? turned_round(metric) : metric;
      for (std::size_t r = 0; r < n; ++r) {
        if (commodity.amounts[r] > 0) {
          sum += commodity.amounts[r] * cheapest_arborescence(directed, r);
        }
      }
      return sum;
    }
    case Commodity::Kind::allreduce: {
      const Metric back = turned_round(metric);
      std::optional<Whole> least;
      for (std::size_t r = 0; r < n; ++r) {
        const Whole both = cheapest_arborescence(metric, r) + cheapest_arborescence(back, r);
        if (!least || both < *least) least = both;
      }
      return commodity.amounts.front() * *least;
    }
    case Commodity::Kind::paths:
      break;
  }
  for (std::size_t i = 0; i < n * n; ++i) sum += commodity.amounts[i] * metric[i / n][i % n];
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
  for (const auto& commodities : demand.operations) {
    for (const Commodity& commodity : commodities) {
      covered += least_cost(commodity, metric_of(network, commodity, demand.relays, all));
    }
  }
  if (covered == 0) return std::nullopt;
  return in_lowest_terms(room * demand.whole() * network.unit.num(), covered * network.unit.den());
}

}  // namespace forestcoll
