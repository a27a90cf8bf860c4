#include "solver/alltoall/instance/proof.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace forestcoll::solver::alltoall {
namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
constexpr Int128 kFits = std::numeric_limits<std::int64_t>::max();

bool multiply(Int128 a, Int128 b, Int128& product) {
  return !__builtin_mul_overflow(a, b, &product);
}

// The two are shortened until neither is above its limit, so that the result is on the safe side.
// REQUIRES: both positive.
std::optional<Ratio> shortened(Int128 num, Int128 den, Rounding rounding, Int128 most_num,
                               Int128 most_den) {
  while (num > most_num || den > most_den) {
    const bool up = rounding == Rounding::up;
    num = num / 2 + (up ? num % 2 : 0);
    den = den / 2 + (up ? 0 : den % 2);
  }
  return Ratio::reduced(num, den);
}

// num / den in lowest terms, shortened where that does not fit. REQUIRES: both positive.
std::optional<Ratio> rounded(Int128 num, Int128 den, Rounding rounding) {
  if (const auto exact = Ratio::reduced(num, den)) return exact;
  return shortened(num, den, rounding, kFits, kFits);
}

bool add_product(Int128& sum, Int128 a, Int128 b) {
  Int128 product = 0;
  return multiply(a, b, product) && !__builtin_add_overflow(sum, product, &sum);
}

// Whether every node gets what it needs, and none goes below 0.
bool is_routing(const Instance& instance, Rank source, const IdVector<ArcId, std::int64_t>& flow,
                std::int64_t parts) {
  const Digraph& graph = instance.network.graph;
  IdVector<NodeId, Int128> lacks(graph.node_count(), 0);
  const auto needs = instance.needs(source);
  for (std::size_t v = 0; v < needs.size(); ++v) {
    lacks[NodeId(v)] = static_cast<Int128>(needs[NodeId(v)]) * parts;
  }
  for (std::size_t a = 0; a < flow.size(); ++a) {
    if (flow[ArcId(a)] < 0) return false;
    lacks[graph.head(ArcId(a))] -= flow[ArcId(a)];
    lacks[graph.tail(ArcId(a))] += flow[ArcId(a)];
  }
  lacks[instance.network.ranks[source.index()]] = 0;  // the sum over all nodes is what it sends
  return std::ranges::all_of(lacks, [](Int128 lack) { return lack == 0; });
}

}  // namespace

std::optional<Ratio> short_product(const Ratio& a, const Ratio& b, std::int64_t total,
                                   Rounding rounding) {
  constexpr Int128 kMost = Int128{1} << 62;
  return shortened(static_cast<Int128>(a.num()) * b.num(), static_cast<Int128>(a.den()) * b.den(),
                   rounding, kMost / total, kMost);
}

Distances distances_from(const Digraph& graph, const ArcLengths& lengths, NodeId source) {
  using Entry = std::tuple<std::int64_t, int, NodeId>;  // distance, arcs, node
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  IdVector<NodeId, std::pair<std::int64_t, int>> best(graph.node_count(), {kFar, 0});
  Distances distances{IdVector<NodeId, std::int64_t>(graph.node_count(), kFar), {}};
  best[source] = {0, 0};
  queue.emplace(0, 0, source);
  while (!queue.empty()) {
    const auto [distance, hops, v] = queue.top();
    queue.pop();
    if (distances.to[v] != kFar) continue;
    distances.to[v] = distance;
    distances.settled.push_back(v);
    for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
      const NodeId w = graph.head(a);
      const std::pair next{distance + lengths[a], hops + 1};
      if (distances.to[w] != kFar || next >= best[w]) continue;
      best[w] = next;
      queue.emplace(next.first, next.second, w);
    }
  }
  return distances;
}

std::optional<Ratio> prove_at_most(const Instance& instance, const ArcLengths& lengths) {
  const Network& network = instance.network;
  Int128 capacity = 0, covered = 0;
  for (std::size_t a = 0; a < lengths.size(); ++a) {
    if (!add_product(capacity, network.capacity[ArcId(a)], lengths[ArcId(a)])) return std::nullopt;
  }
  for (const Source& source : instance.sources) {
    const auto distances =
        distances_from(network.graph, lengths, network.ranks[source.rank.index()]).to;
    const auto needs = instance.needs(source.rank);
    Int128 sum = 0;
    for (const NodeId v : network.ranks) {
      if (needs[v] > 0 && !add_product(sum, needs[v], distances[v])) return std::nullopt;
    }
    if (!add_product(covered, sum, source.members)) return std::nullopt;
  }
  if (covered == 0) return std::nullopt;
  return rounded(capacity, covered, Rounding::up);
}

std::optional<Ratio> prove_by_cut(const Instance& instance, const std::vector<bool>& sends) {
  const Network& network = instance.network;
  Int128 capacity = 0, crossing = 0;
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    const bool leaves = sends[arc.tail.index()] && !sends[arc.head.index()];
    if (leaves) capacity += network.capacity[ArcId(a)];
  }
  std::vector<Rank> inside, outside;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    (sends[network.ranks[r].index()] ? inside : outside).emplace_back(r);
  }
  if (instance.demand.is_uniform()) {
    crossing = static_cast<Int128>(inside.size()) * static_cast<Int128>(outside.size());
  } else {
    for (const Rank s : inside) {
      for (const Rank t : outside) crossing += instance.demand(s, t) / instance.unit;
    }
  }
  if (crossing == 0) return std::nullopt;
  return rounded(capacity, crossing, Rounding::up);
}

std::optional<Ratio> prove_reached(const Instance& instance,
                                   const std::vector<IdVector<ArcId, std::int64_t>>& flows,
                                   std::int64_t parts) {
  std::vector<Int128> load(instance.orbits.arcs.count, 0);  // all arcs of an orbit together
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const Source& source = instance.sources[i];
    if (!is_routing(instance, source.rank, flows[i], parts)) return std::nullopt;
    for (std::size_t a = 0; a < flows[i].size(); ++a) {
      if (!add_product(load[instance.orbits.arcs.of[a]], flows[i][ArcId(a)], source.members)) {
        return std::nullopt;
      }
    }
  }
  std::optional<Ratio> slowest;
  for (std::size_t a = 0; a < instance.orbits.arcs.of.size(); ++a) {
    const std::size_t orbit = instance.orbits.arcs.of[a];
    if (load[orbit] == 0) continue;
    Int128 capacity = 0;
    if (!multiply(
            static_cast<Int128>(instance.network.capacity[ArcId(a)]) * instance.arc_members[orbit],
            parts, capacity)) {
      return std::nullopt;
    }
    const auto rate = rounded(capacity, load[orbit], Rounding::down);
    if (!rate) return std::nullopt;
    if (!slowest || *rate < *slowest) slowest = rate;
  }
  return slowest;
}

}  // namespace forestcoll::solver::alltoall
