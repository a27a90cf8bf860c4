// Packing around previous trees: the rate is that from scratch, whatever is kept.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "forestcoll/congestion.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/synthesize.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

// The network without some arcs and with less capacity on others; all compute nodes must still
// reach one another, or there is nothing to compare.
std::optional<Network> damaged(const Network& network, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t victim = random() % network.graph.arc_count();
  const Arc arc = network.graph.arcs()[victim];
  const bool gone = random() % 2 == 0;
  Network left = network;
  left.capacity = {};
  std::vector<Arc> arcs;
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc other = network.graph.arcs()[a];
    const bool hit = other == arc || other == Arc{arc.head, arc.tail};
    const Capacity capacity = network.capacity[ArcId(a)];
    if (hit && (gone || capacity == 1)) continue;
    arcs.push_back(other);
    left.capacity.push_back(hit ? capacity - 1 : capacity);
  }
  left.graph = Digraph(network.graph.node_count(), arcs);
  for (const NodeId start : left.ranks) {
    std::vector<bool> met(left.graph.node_count(), false);
    std::vector<NodeId> pending = {start};
    while (!pending.empty()) {
      const NodeId v = pending.back();
      pending.pop_back();
      if (met[v.index()]) continue;
      met[v.index()] = true;
      for (ArcId a = left.graph.first_out(v); a != left.graph.last_out(v); ++a.value) {
        pending.push_back(left.graph.head(a));
      }
    }
    for (const NodeId rank : left.ranks) {
      if (!met[rank.index()]) return std::nullopt;
    }
  }
  return left;
}

Packing pack_at_optimum(const Network& network) {
  const Weights weights = shares(network);
  auto packing = pack(network, weights, scale_to_optimum(network, optimal_rate(network, weights)));
  EXPECT_TRUE(packing);
  return *packing;
}

// Shape: root and all paths.
std::vector<std::vector<NodeId>> shape(const Forest& forest, TreeId t) {
  std::vector<std::vector<NodeId>> paths;
  for (std::size_t v = 0; v < forest.rank_count(); ++v) {
    paths.push_back(Rank(v) == forest.tree(t).root ? std::vector<NodeId>()
                                                   : forest.path(t, Rank(v)));
  }
  return paths;
}

std::set<std::vector<std::vector<NodeId>>> shapes(const Forest& forest) {
  std::set<std::vector<std::vector<NodeId>>> all;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) all.insert(shape(forest, TreeId(t)));
  return all;
}

void expect_sound(const Network& network, const Scaling& asked, const Repacking& repacking,
                  std::uint64_t seed) {
  EXPECT_EQ(repacking.packing.scaling.scale, asked.scale) << seed;
  EXPECT_EQ(test::find_forest_flaw(network, shares(network), repacking.packing.scaling,
                                   repacking.packing.forest),
            "")
      << seed;
}

TEST(Repack, ReachesTheNewOptimumAfterAnyFailure) {
  int compared = 0;
  std::int64_t kept = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = 7, .max_capacity = seed % 2 == 0 ? 3 : 40});
    const auto left = damaged(network, seed);
    if (!left) continue;
    ++compared;
    const Packing previous = pack_at_optimum(network);
    const Weights weights = shares(*left);
    const Scaling scaling = scale_to_optimum(*left, optimal_rate(*left, weights));
    const auto repacking = repack(*left, weights, scaling, previous.forest);
    ASSERT_TRUE(repacking) << seed;
    expect_sound(*left, scaling, *repacking, seed);
    // What it says of itself.
    const RepackStatistics& said = repacking->repack;
    const auto before = shapes(previous.forest);
    std::int64_t common = 0, shared = 0;
    const Forest& forest = repacking->packing.forest;
    for (std::size_t t = 0; t < forest.tree_count(); ++t) {
      if (!before.contains(shape(forest, TreeId(t)))) continue;
      ++common;
      shared += forest.tree(TreeId(t)).multiplicity;
    }
    EXPECT_EQ(said.previous, static_cast<std::int64_t>(previous.forest.tree_count()));
    EXPECT_LE(said.kept, common) << seed;  // a new tree may have a previous one's shape
    EXPECT_LE(said.kept_multiplicity, shared) << seed;
    EXPECT_EQ(said.kept + said.added,
              static_cast<std::int64_t>(repacking->packing.forest.tree_count()));
    EXPECT_LE(said.kept + said.touched, said.previous);
    kept += said.kept_multiplicity;
    all += said.total_multiplicity;
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(20 * kept, 17 * all);  // most of the data stays where it was
}

TEST(Repack, KeepsEverythingWhereNothingHappened) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 7});
    const Packing previous = pack_at_optimum(network);
    const auto repacking = repack(network, shares(network), previous.scaling, previous.forest);
    ASSERT_TRUE(repacking);
    EXPECT_EQ(repacking->repack.kept, repacking->repack.previous) << seed;
    EXPECT_EQ(repacking->repack.added, 0) << seed;
    EXPECT_EQ(repacking->repack.kept_multiplicity, repacking->repack.total_multiplicity);
    EXPECT_EQ(shapes(repacking->packing.forest), shapes(previous.forest));
    expect_sound(network, previous.scaling, *repacking, seed);
  }
}

TEST(Repack, TakesTreesToOtherScales) {
  const Network network = test::dgx_a100(2);
  const Packing previous = pack_at_optimum(network);
  const Weights weights = shares(network);
  const Rate rate = optimal_rate(network, weights);
  for (const std::int64_t k : {1, 2, 5, 26, 130}) {
    const auto scaling = scale_to_k(network, weights, rate, k);
    ASSERT_TRUE(scaling);
    const auto repacking = repack(network, weights, *scaling, previous.forest);
    ASSERT_TRUE(repacking);
    expect_sound(network, *scaling, *repacking, static_cast<std::uint64_t>(k));
    if (k % 13 == 0) {
      EXPECT_EQ(repacking->repack.added, 0) << k;
    }
  }
}

TEST(Repack, CutsOffARankThatIsGone) {
  const Network network = test::dgx_a100(2);
  const Packing previous = pack_at_optimum(network);
  Network left = network;
  const NodeId gone = network.ranks.back();
  left.ranks.pop_back();
  left.rank_of[gone] = Rank();
  std::vector<Arc> arcs;
  left.capacity = {};
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc arc = network.graph.arcs()[a];
    if (arc.tail == gone || arc.head == gone) continue;
    arcs.push_back(arc);
    left.capacity.push_back(network.capacity[ArcId(a)]);
  }
  left.graph = Digraph(network.graph.node_count(), arcs);
  const Weights weights = shares(left);
  const Scaling scaling = scale_to_optimum(left, optimal_rate(left, weights));
  const auto repacking = repack(left, weights, scaling, previous.forest);
  ASSERT_TRUE(repacking);
  expect_sound(left, scaling, *repacking, 0);
  EXPECT_GT(repacking->repack.kept, 0);
}

TEST(Repack, HoldsWithWeightsAndUnbalancedSwitches) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Network network = test::random_fabric(seed, {.max_compute = 6, .unbalanced = true});
    network.weight = uniform_weights(network);
    network.weight[Rank(std::size_t{0})] = 3;
    const auto left = damaged(network, seed);
    if (!left) continue;
    const Weights weights = shares(*left);
    const Scaling scaling = scale_to_optimum(*left, optimal_rate(*left, weights));
    const auto repacking = repack(*left, weights, scaling, pack_at_optimum(network).forest);
    ASSERT_TRUE(repacking);
    EXPECT_EQ(test::find_forest_flaw(*left, weights, repacking->packing.scaling,
                                     repacking->packing.forest),
              "")
        << seed;
  }
}

TEST(Repack, JoinsNewTreesWithKeptOnes) {
  // Kept trees give way by parts, and what is packed instead can be what was taken back.
  int joined = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 5, .max_capacity = 40});
    const auto left = damaged(network, seed);
    if (!left) continue;
    const Weights weights = shares(*left);
    const Scaling scaling = scale_to_optimum(*left, optimal_rate(*left, weights));
    const auto repacking = repack(*left, weights, scaling, pack_at_optimum(network).forest);
    ASSERT_TRUE(repacking) << seed;
    const Forest& forest = repacking->packing.forest;
    EXPECT_EQ(shapes(forest).size(), forest.tree_count()) << seed;
    ++joined;
  }
  EXPECT_GT(joined, 100);
}

TEST(Repack, ThroughTheFacadeBothPhasesKeepTrees) {
  const Network network = test::dgx_a100(2);
  const auto before = synthesize(network, {.collective = Collective::allreduce});
  ASSERT_TRUE(before);
  SynthesizeOptions options{.collective = Collective::allreduce, .previous = &before->forest};
  const auto after = synthesize(network, options);
  ASSERT_TRUE(after && after->repack);
  EXPECT_EQ(after->forest.algbw, before->forest.algbw);
  EXPECT_EQ(after->repack->kept, after->repack->previous);

  options.collective = Collective::allgather;
  const auto other = synthesize(network, options);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.errors().front().code, Code::R02);
}

// Both ways are packed around the previous trees; neither hides what the other reaches.
TEST(RepackLong, AnAllreduceIsNoSlowerThanFromScratch) {
  int faster_at_once = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Network network = test::random_fabric(
        seed, {.max_compute = 6, .one_way = seed % 3 == 1, .unbalanced = seed % 3 == 2});
    const auto left = damaged(network, seed);
    if (!left) continue;
    SynthesizeOptions options{.collective = Collective::allreduce};
    if (seed % 2 == 0)
      options.trees_per_root = {TreesPerRoot::Mode::fixed, 1 + std::int64_t(seed % 4)};
    const auto before = synthesize(network, options);
    const auto cold = synthesize(*left, options);
    ASSERT_TRUE(before && cold) << seed;
    options.previous = &before->forest;
    const auto warm = synthesize(*left, options);
    ASSERT_TRUE(warm && warm->repack) << seed;
    EXPECT_GE(warm->forest.algbw, cold->forest.algbw) << seed;
    EXPECT_EQ(warm->forest.optimum, cold->forest.optimum) << seed;
    EXPECT_EQ(warm->optimum_at_least, cold->optimum_at_least) << seed;
    EXPECT_EQ(warm->two_phases, cold->two_phases) << seed;
    EXPECT_EQ(congestion_algbw(warm->forest, *left), warm->forest.algbw) << seed;
    faster_at_once += cold->two_phases && *cold->two_phases < cold->forest.algbw ? 1 : 0;
  }
  EXPECT_GT(faster_at_once, 20);
}

TEST(Repack, RefusesAnotherRootAndUnknownRanks) {
  const Network network = test::dgx_a100(2);
  const auto before =
      synthesize(test::dgx_a100(1), {.collective = Collective::broadcast, .root = Rank(0)});
  ASSERT_TRUE(before);
  const auto root = synthesize(
      test::dgx_a100(1),
      {.collective = Collective::broadcast, .root = Rank(1), .previous = &before->forest});
  ASSERT_FALSE(root);
  EXPECT_EQ(root.errors().front().message, "the previous forest has another root");
  const auto ranks = synthesize(
      network, {.collective = Collective::broadcast, .root = Rank(0), .previous = &before->forest});
  ASSERT_FALSE(ranks);
  EXPECT_EQ(ranks.errors().front().message, "rank 8 is not in the previous forest");
}

}  // namespace
}  // namespace forestcoll
