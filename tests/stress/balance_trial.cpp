#include "stress/balance_trial.hpp"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "stress/kinds.hpp"
#include "support/balance_oracle.hpp"
#include "support/oracles.hpp"

namespace forestcoll::stress {
namespace {

constexpr double kTolerance = 1e-6;

bool all_reach_one_another(const Network& network) {
  for (const bool backwards : {false, true}) {
    std::vector<bool> met(network.graph.node_count(), false);
    std::vector<NodeId> queue = {network.ranks.front()};
    met[queue.front().index()] = true;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (const Arc& arc : network.graph.arcs()) {
        const NodeId from = backwards ? arc.head : arc.tail, to = backwards ? arc.tail : arc.head;
        if (from != queue[at] || met[to.index()]) continue;
        met[to.index()] = true;
        queue.push_back(to);
      }
    }
    for (const NodeId rank : network.ranks) {
      if (!met[rank.index()]) return false;
    }
  }
  return true;
}

// Without up to three arcs, as long as all compute nodes still reach one another.
Network with_failures(Network network, std::mt19937_64& random) {
  for (std::size_t failures = 1 + random() % 3; failures > 0; --failures) {
    const std::size_t dropped = random() % network.graph.arc_count();
    Network left = network;
    left.capacity = {};
    std::vector<Arc> arcs;
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      if (a == dropped) continue;
      arcs.push_back(network.graph.arcs()[a]);
      left.capacity.push_back(network.capacity[ArcId(a)]);
    }
    left.graph = Digraph(network.graph.node_count(), arcs);
    if (all_reach_one_another(left)) network = std::move(left);
  }
  return network;
}

Network fabric_of(std::uint64_t seed, std::mt19937_64& random) {
  if (seed % 2 == 0) return random_fabric_of(Kind::unbalanced, seed);
  constexpr Kind kKinds[] = {Kind::easy, Kind::one_way, Kind::multi_level, Kind::boxes};
  return with_failures(random_fabric_of(kKinds[seed / 2 % 4], seed), random);
}

}  // namespace

BalanceTrial try_unbalanced(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Network network = fabric_of(seed, random);
  const std::size_t ranks = network.ranks.size();
  const Weights weights = seed % 3 == 0   ? random_weights(ranks, seed)
                          : seed % 3 == 1 ? single_root(network, Rank(random() % ranks))
                                          : uniform_weights(network);
  const Rate rate = tree_rate(network, weights);
  const double found = 1 / rate.inverse.to_double(), oracle = test::rate_by_flows(network, weights);
  const Scaling scaling = scale_to_optimum(network, rate);
  BalanceTrial trial{.below_cuts =
                         Ratio(rate.bottleneck.weight, rate.bottleneck.exit) < rate.inverse};
  if (std::abs(found - oracle) > kTolerance * oracle) {
    trial.flaw = "a rate of " + std::to_string(found) + ", not " + std::to_string(oracle);
    return trial;
  }
  const auto packing = pack(network, weights, scaling, {.effort = Effort::fast});
  if (!packing) {
    trial.flaw = to_string(packing.errors().front());
  } else if (packing->scaling.scale != scaling.scale || packing->scaling.k != scaling.k) {
    trial.flaw =
        "raised from " + scaling.scale.to_string() + " to " + packing->scaling.scale.to_string();
  } else {
    trial.flaw = test::find_forest_flaw(network, weights, packing->scaling, packing->forest);
  }
  return trial;
}

}  // namespace forestcoll::stress
