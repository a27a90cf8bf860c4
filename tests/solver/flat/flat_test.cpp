// Flat trees from box to box, beside what gates carry by definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/common/boxes.hpp"
#include "solver/flat/cluster.hpp"
#include "solver/flat/flat_forests.hpp"
#include "solver/flat/lanes.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

using test::Cluster;
using test::damage;
using test::random_cluster;

// Out of n boxes one that roots a part w of all trees sends and gets 1 + (n − 2)·w of all, so that
// boxes of width c carry so much at a rate X: each roots no more than (c / X − 1) / (n − 2).
Ratio most_of_stars(const Cluster& cluster) {
  Capacity all = 0, least = cluster.width(0);
  for (std::size_t box = 0; box < cluster.boxes; ++box) {
    all += cluster.width(box);
    least = std::min(least, cluster.width(box));
  }
  return std::min(Ratio(all, static_cast<std::int64_t>(2 * cluster.boxes - 2)), Ratio(least));
}

void expect_sound(const Network& network, const solver::FlatForests& found, const Ratio& rate,
                  std::int32_t height, const std::string& where) {
  const std::int64_t all = std::accumulate(found.trees.begin(), found.trees.end(), std::int64_t{0});
  Scaling any{1, Ratio(all), {}};
  for (const Capacity capacity : network.capacity) any.capacity.push_back(capacity * all);
  EXPECT_EQ(test::find_forest_flaw(network, found.trees, any, found.broadcast), "") << where;
  EXPECT_EQ(test::find_forest_flaw(reversed(network), found.trees, any, found.reduce.reversed()),
            "")
      << where;
  EXPECT_LE(found.broadcast.max_height(), height) << where;
  EXPECT_LE(found.reduce.max_height(), height) << where;
  CollectiveForest forest;
  forest.weight = found.trees;
  forest.broadcast = found.broadcast;
  forest.reduce = found.reduce;
  EXPECT_GE(*congestion_algbw(forest, network), rate) << where;
}

constexpr std::int32_t kRelayed = 4;  // hops

// Where all boxes share one switch, nearly all carry what the sums over their gates say; and
// nothing more than an allreduce may reach is claimed.
TEST(FlatForestsLong, ReachWhatGatesCarryThroughOneSwitch) {
  std::mt19937_64 random(1);
  int asked = 0, reached = 0, relayed = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Cluster cluster = random_cluster(random, 1);
    damage(cluster, random, trial % 3 == 0);
    const Network network = cluster.build();
    const std::string where = "trial " + std::to_string(trial);
    const Ratio stars = most_of_stars(cluster);
    if (stars == Ratio(0)) continue;
    const auto straight = solver::flat_forests(network, stars, {});
    ++asked;
    reached += straight ? 1 : 0;
    if (straight) expect_sound(network, *straight, stars, kRelayed, where);
    const Ratio most = allreduce_optimum(network, {}, {})->upper;
    EXPECT_FALSE(solver::flat_forests(network, most * Ratio(1001, 1000), {})) << where;
    const auto found = solver::flat_forests(network, most, {});
    if (!found || most == stars) continue;
    ++relayed;
    expect_sound(network, *found, most, kRelayed, where);
  }
  EXPECT_GE(reached * 10, asked * 9) << reached << " of " << asked;
  EXPECT_GT(relayed, 5);
}

// Where each rank has a rail of its own, too, whatever directions fail.
TEST(FlatForestsLong, ReachTheOptimumOnDamagedRails) {
  std::mt19937_64 random(2);
  int asked = 0, reached = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Cluster cluster{5 + random() % 6, 4, 4, {}, {}};
    cluster.out.assign(cluster.boxes * 4, 10);
    cluster.in = cluster.out;
    damage(cluster, random, trial % 2 == 0);
    const Network network = cluster.build();
    const Ratio most = allreduce_optimum(network, {}, {})->upper;
    ++asked;
    const auto found = solver::flat_forests(network, most, {});
    if (!found) continue;
    ++reached;
    expect_sound(network, *found, most, kRelayed, "trial " + std::to_string(trial));
  }
  EXPECT_GE(reached * 10, asked * 8) << reached << " of " << asked;
}

// What goes from box to box in both phases: that of all trees of the two, but for what others pass
// on, and what they pass on themselves.
std::int64_t owed(const solver::BoxShares& shares, std::size_t from, std::size_t to) {
  if (from == to) return 0;
  std::int64_t trees = shares.trees[from] + shares.trees[to];
  for (const solver::Relay& relay : shares.relays) {
    const std::size_t begin = relay.is_reduce ? to : from, end = relay.is_reduce ? from : to;
    if (relay.to != end) continue;
    if (relay.root == begin) trees -= relay.trees;
    if (relay.via == begin) trees += relay.trees;
  }
  return trees;
}

// Of each pair of boxes as much goes over the lanes as both root, and gates carry it.
TEST(FlatLanes, CarryTheTreesOfBothPhases) {
  std::mt19937_64 random(3);
  int found = 0;
  for (int trial = 0; trial < 20; ++trial) {
    Cluster cluster = random_cluster(random, 1);
    damage(cluster, random, trial % 2 == 0);
    const Network network = cluster.build();
    const Ratio most = allreduce_optimum(network, {}, {})->upper;
    const solver::Core core = solver::make_core(network, network.capacity);
    const auto divisions = solver::divisions_into_boxes(core);
    ASSERT_FALSE(divisions.empty());
    const solver::Boxes& boxes = divisions.front();
    ASSERT_EQ(boxes.members.size(), cluster.boxes);
    const auto lanes = solver::find_lanes(boxes, most);
    if (!lanes) continue;
    ++found;
    const std::int64_t all =
        std::accumulate(lanes->shares.trees.begin(), lanes->shares.trees.end(), std::int64_t{0});
    std::vector<std::vector<std::int64_t>> out(cluster.boxes), in(cluster.boxes);
    for (std::size_t g = 0; g < cluster.boxes; ++g) {
      out[g].resize(boxes.out[g].size());
      in[g].resize(boxes.in[g].size());
    }
    for (std::size_t g = 0; g < cluster.boxes; ++g) {
      for (std::size_t h = 0; h < cluster.boxes; ++h) {
        std::int64_t trees = 0;
        for (const solver::Lane& lane : lanes->lanes[g][h]) {
          trees += lane.trees;
          out[g][lane.out] += lane.trees;
          in[h][lane.in] += lane.trees;
        }
        EXPECT_EQ(trees, owed(lanes->shares, g, h));
      }
    }
    for (std::size_t g = 0; g < cluster.boxes; ++g) {
      for (std::size_t i = 0; i < out[g].size(); ++i) {
        EXPECT_LE(Ratio(out[g][i]) * most, Ratio(boxes.out[g][i].capacity) * Ratio(all));
      }
      for (std::size_t i = 0; i < in[g].size(); ++i) {
        EXPECT_LE(Ratio(in[g][i]) * most, Ratio(boxes.in[g][i].capacity) * Ratio(all));
      }
    }
  }
  EXPECT_GT(found, 10);
}

// No box roots less than nothing, and fabrics without boxes have no such trees.
TEST(FlatForests, NeedBoxesThatCarryTheRate) {
  EXPECT_FALSE(solver::flat_forests(test::torus({4, 4}), Ratio(1), {}));
  EXPECT_FALSE(solver::flat_forests(test::dgx_a100(2), Ratio(1), {}));
  Cluster cluster{4, 2, 1, std::vector<Capacity>(8, 10), std::vector<Capacity>(8, 10)};
  cluster.out[0] = 1;
  cluster.in[1] = 1;
  EXPECT_FALSE(solver::flat_forests(cluster.build(), Ratio(12), {}));
}

// Damaged clusters of the family, whatever the seed, have optimal trees near the bound.
TEST(FlatForestsLong, OptimalTreesOfDamagedClustersAreFlat) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    std::mt19937_64 random(seed);
    Cluster cluster{10 + seed, 8, 8, {}, {}};
    cluster.out.assign(cluster.boxes * 8, 10);
    cluster.in = cluster.out;
    damage(cluster, random, seed % 2 == 0);
    const Network network = cluster.build();
    const auto found = synthesize(network, {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->forest.algbw, found->forest.optimum) << seed;
    EXPECT_LE(std::max(found->forest.broadcast->max_height(), found->forest.reduce->max_height()),
              found->least_height + 2)
        << seed;
  }
}

}  // namespace
}  // namespace forestcoll
