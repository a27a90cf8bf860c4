// The rate by bisection against the definition: the maximum over all cuts.
#include <gtest/gtest.h>

#include <random>

#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

struct Fabric {
  int nodes = 0;
  std::vector<int> compute;
  std::vector<Arc> arcs;
  std::vector<Capacity> capacity;
};

Network network_of(const Fabric& fabric) {
  Network network;
  std::vector<std::size_t> order;
  network.graph = Digraph(static_cast<std::size_t>(fabric.nodes), fabric.arcs, &order);
  for (const std::size_t i : order) network.capacity.push_back(fabric.capacity[i]);
  network.rank_of.assign(static_cast<std::size_t>(fabric.nodes), Rank());
  for (const int v : fabric.compute) {
    network.rank_of[NodeId(v)] = Rank(network.ranks.size());
    network.ranks.push_back(NodeId(v));
  }
  return network;
}

// A ring through all nodes keeps every pair connected; the rest is random.
Fabric random_fabric(std::mt19937_64& random, Capacity largest) {
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  Fabric fabric;
  fabric.nodes = static_cast<int>(draw(2, 9));
  const auto add = [&](int from, int to) {
    fabric.arcs.push_back({NodeId(from), NodeId(to)});
    fabric.capacity.push_back(draw(1, largest));
  };
  for (int v = 0; v < fabric.nodes; ++v) {
    add(v, (v + 1) % fabric.nodes);
    if (v < 2 || draw(0, 2) > 0) fabric.compute.push_back(v);
  }
  for (std::int64_t extra = draw(0, 3 * fabric.nodes); extra > 0; --extra) {
    const int from = static_cast<int>(draw(0, fabric.nodes - 1));
    const int to = static_cast<int>(draw(0, fabric.nodes - 1));
    if (from != to) add(from, to);
  }
  return fabric;
}

Ratio by_all_cuts(const Network& network, const IdVector<Rank, std::int64_t>& weights) {
  Ratio best = 0;
  const std::size_t n = network.graph.node_count();
  for (std::uint32_t set = 1; set < (1U << n); ++set) {
    const auto in = [&](NodeId v) { return (set >> v.index() & 1U) != 0; };
    std::int64_t weight = 0;
    bool all = true;
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      if (in(network.ranks[r])) weight += weights[Rank(r)];
      all = all && in(network.ranks[r]);
    }
    if (all || weight == 0) continue;
    Capacity exit = 0;
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      if (in(network.graph.tail(ArcId(a))) && !in(network.graph.head(ArcId(a)))) {
        exit += network.capacity[ArcId(a)];
      }
    }
    best = std::max(best, Ratio(weight, exit));
  }
  return best;
}

IdVector<Rank, std::int64_t> weights_for(const Network& network, std::mt19937_64& random,
                                         std::uint64_t seed) {
  IdVector<Rank, std::int64_t> weights(network.ranks.size(), 1);
  if (seed % 3 == 1) {  // a single root
    weights.assign(network.ranks.size(), 0);
    weights[Rank(random() % network.ranks.size())] = 1;
  }
  if (seed % 3 == 2) {
    for (auto& w : weights) w = static_cast<std::int64_t>(random() % 5);
    weights[Rank(0)] = 1;
  }
  return weights;
}

TEST(Bisection, AgreesWithAllCuts) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    std::mt19937_64 random(seed);
    const Capacity largest = seed % 2 == 0 ? 12 : 1'000'000;
    const Network network = network_of(random_fabric(random, largest));
    const auto weights = weights_for(network, random, seed);
    EXPECT_EQ(rate_by_bisection(network, weights), by_all_cuts(network, weights)) << seed;
  }
}

TEST(Bisection, CapacitiesBeyond32Bits) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const Network network = network_of(random_fabric(random, Capacity{1} << 50));
    const auto weights = weights_for(network, random, seed);
    EXPECT_EQ(rate_by_bisection(network, weights), by_all_cuts(network, weights)) << seed;
  }
}

TEST(Bisection, TwoNodes) {
  const Network network =
      network_of({2, {0, 1}, {{NodeId(0), NodeId(1)}, {NodeId(1), NodeId(0)}}, {7, 3}});
  EXPECT_EQ(rate_by_bisection(network, IdVector<Rank, std::int64_t>(2, 1)), Ratio(1, 3));
}

TEST(Bisection, ScalesInversely) {
  std::mt19937_64 random(7);
  Fabric fabric = random_fabric(random, 20);
  const Network network = network_of(fabric);
  const auto weights = weights_for(network, random, 0);
  const Ratio rate = rate_by_bisection(network, weights);
  for (Capacity& c : fabric.capacity) c *= Capacity{1} << 36;
  EXPECT_EQ(rate_by_bisection(network_of(fabric), weights) * Ratio(Capacity{1} << 36), rate);
}

TEST(Bisection, BoxesBehindASwitch) {
  // Two boxes of four: 300 each way to the box's switch, 25 to the common one.
  Fabric fabric;
  fabric.nodes = 11;
  const auto link = [&](int a, int b, Capacity c) {
    fabric.arcs.push_back({NodeId(a), NodeId(b)});
    fabric.arcs.push_back({NodeId(b), NodeId(a)});
    fabric.capacity.insert(fabric.capacity.end(), {c, c});
  };
  for (int g = 0; g < 8; ++g) {
    fabric.compute.push_back(g);
    link(g, 8 + g / 4, 300);
    link(g, 10, 25);
  }
  const Network network = network_of(fabric);
  EXPECT_EQ(rate_by_bisection(network, IdVector<Rank, std::int64_t>(8, 1)), Ratio(4, 100));
}

}  // namespace
}  // namespace forestcoll
