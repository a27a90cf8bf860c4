#include "solver/rate/trim.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/sink_flow.hpp"
#include "solver/common/demand_check.hpp"
#include "solver/common/sink_order.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/rate/balance_program.hpp"
#include "solver/rate/least_trimming.hpp"
#include "solver/rate/scale.hpp"

namespace forestcoll::solver {
namespace {

constexpr int kAttempts = 12;
constexpr std::int64_t kDearest = std::int64_t{1} << 20;

// What the linear program calls 5 may come as 4.999999.
constexpr double kRounding = 1e-6;

IdVector<ArcId, Capacity> nothing(const Network& network) {
  return IdVector<ArcId, Capacity>(network.graph.arc_count(), 0);
}

// A sink's violated cut each, for all sinks that have one while those before it supply everything.
std::vector<SinkSide> violated_cuts(const Network& network,
                                    const IdVector<ArcId, Capacity>& capacity,
                                    const Weights& owed) {
  std::vector<std::int64_t> supply(network.graph.node_count(), 0);
  for (std::size_t r = 0; r < owed.size(); ++r) {
    supply[network.ranks[r].index()] = owed[Rank(r)];
  }
  const std::int64_t demand = std::accumulate(owed.begin(), owed.end(), std::int64_t{0});
  graph::SinkFlow flow(network.graph);
  flow.reset(std::vector<std::int64_t>(capacity.begin(), capacity.end()), supply);
  std::vector<SinkSide> violated;
  for (const NodeId sink :
       locality_order(network.graph, capacity, network.ranks, network.ranks.front())) {
    if (!flow.send(sink, demand)) violated.push_back(flow.tight_sink_side(sink));
    flow.merge(sink);
  }
  return violated;
}

}  // namespace

bool carries(const Network& network, const IdVector<ArcId, Capacity>& capacity,
             const Weights& owed) {
  return violated_cuts(network, capacity, owed).empty();
}

std::optional<IdVector<ArcId, Capacity>> trim_where_spare(const Network& network,
                                                          const IdVector<ArcId, Capacity>& capacity,
                                                          const Weights& owed) {
  const Digraph& graph = network.graph;
  IdVector<ArcId, std::int64_t> cost(graph.arc_count(), 1);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto left = least_trimming(graph, capacity, nothing(network), network.rank_of, cost);
    if (!left) return std::nullopt;
    const std::vector<SinkSide> violated = violated_cuts(network, *left, owed);
    if (violated.empty()) return left;
    for (const SinkSide& side : violated) {
      for (std::size_t a = 0; a < graph.arc_count(); ++a) {
        const Arc& arc = graph.arcs()[a];
        if (side[arc.tail.index()] || !side[arc.head.index()]) continue;
        cost[ArcId(a)] = std::min(2 * cost[ArcId(a)], kDearest);
      }
    }
  }
  return std::nullopt;
}

std::optional<IdVector<ArcId, Capacity>> trim_near(const Network& network,
                                                   const IdVector<ArcId, Capacity>& capacity,
                                                   const Weights& owed,
                                                   std::span<const double> part) {
  IdVector<ArcId, Capacity> least = nothing(network);
  for (std::size_t a = 0; a < part.size(); ++a) {
    const auto whole =
        static_cast<Capacity>(std::floor(part[a] * (1 + kRounding * kRounding) + kRounding));
    least[ArcId(a)] = std::clamp(whole, Capacity{0}, capacity[ArcId(a)]);
  }
  const IdVector<ArcId, std::int64_t> cost(network.graph.arc_count(), 1);
  auto left = least_trimming(network.graph, capacity, least, network.rank_of, cost);
  if (!left || !carries(network, *left, owed)) return std::nullopt;
  return left;
}

// Between its floors and its ceilings a flow that is balanced has a whole one.
std::optional<IdVector<ArcId, Capacity>> balanced_near(const Network& network, const Ratio& scale) {
  const IdVector<ArcId, Capacity> least = floor_capacities(network, scale);
  IdVector<ArcId, Capacity> most = least;
  for (std::size_t a = 0; a < most.size(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    const bool is_direct = network.is_compute(arc.tail) && network.is_compute(arc.head);
    const Int128 exact = Int128{network.capacity[ArcId(a)]} * scale.num();
    if (!is_direct && exact % scale.den() != 0) ++most[ArcId(a)];
  }
  const IdVector<ArcId, std::int64_t> gain(network.graph.arc_count(), -1);
  return least_trimming(network.graph, most, least, network.rank_of, gain);
}

Trimming trim_to_balance(const Network& network, const IdVector<ArcId, Capacity>& capacity,
                         const Weights& owed, const TreeRateLimits& limits,
                         const std::stop_token& stop) {
  if (auto left = trim_where_spare(network, capacity, owed)) return {std::move(left)};
  Network scaled = network;
  scaled.capacity = capacity;
  const BalanceProgram balance(scaled, owed);
  if (balance.program.variables > limits.variables) return {};
  CutGeneration generation(balance.program);
  const auto outcome = generation.run({limits.rounds, stop});
  if (outcome == CutGeneration::Outcome::unsolvable || generation.rounds() == 0) return {};
  // With some of the cuts only, the rate is no less than with all.
  if (generation.values()[balance.rate] < 1 - kRounding) return {{}, true};
  if (outcome != CutGeneration::Outcome::complete) return {};
  return {trim_near(network, capacity, owed, balance.part_of(generation.values()))};
}

}  // namespace forestcoll::solver
