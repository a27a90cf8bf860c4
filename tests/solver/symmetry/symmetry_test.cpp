// Automorphisms, what they make equal, and forests made of images.
#include "solver/symmetry/symmetry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "forestcoll/pack.hpp"
#include "solver/common/core.hpp"
#include "solver/symmetry/orbits.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

std::vector<int> orders(const Symmetry& group) {
  std::vector<int> result;
  for (const auto& generator : group.generators()) result.push_back(generator.order);
  return result;
}

std::vector<int> orders(const Network& network) {
  const auto groups = solver::find_symmetries(network, uniform_weights(network));
  return groups.empty() ? std::vector<int>() : orders(groups.front());
}

// By definition: a bijection of nodes that keeps ranks, weights and every arc's capacity.
void expect_automorphism(const Network& network, const Weights& weights, const Symmetry& group,
                         Element g) {
  std::map<std::pair<NodeId, NodeId>, Capacity> capacity;
  const Digraph& graph = network.graph;
  for (std::size_t a = 0; a < graph.arc_count(); ++a) {
    capacity[{graph.tail(ArcId(a)), graph.head(ArcId(a))}] = network.capacity[ArcId(a)];
  }
  std::set<NodeId> images;
  for (std::size_t v = 0; v < graph.node_count(); ++v) images.insert(group.apply(g, NodeId(v)));
  EXPECT_EQ(images.size(), graph.node_count());
  for (const auto& [ends, width] : capacity) {
    const auto image = capacity.find({group.apply(g, ends.first), group.apply(g, ends.second)});
    ASSERT_NE(image, capacity.end());
    EXPECT_EQ(image->second, width);
  }
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    EXPECT_EQ(network.rank_of[group.apply(g, network.ranks[r])], group.apply(g, Rank(r)));
    EXPECT_EQ(weights[Rank(r)], weights[group.apply(g, Rank(r))]);
  }
}

void expect_group(const Network& network, const Weights& weights, const Symmetry& group) {
  std::set<std::vector<NodeId>> distinct;
  std::vector<bool> is_moved(network.ranks.size());
  for (std::size_t r = 0; r < is_moved.size(); ++r) {
    is_moved[r] = group.generators().front().ranks[Rank(r)] != Rank(r);
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Element g = group.element(i);
    expect_automorphism(network, weights, group, g);
    std::vector<NodeId> image;
    for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
      image.push_back(group.apply(g, NodeId(v)));
      EXPECT_EQ(group.apply(group.inverse(g), image.back()), NodeId(v));
    }
    distinct.insert(image);
    for (std::size_t r = 0; i > 0 && r < is_moved.size(); ++r) {
      EXPECT_EQ(group.apply(g, Rank(r)) != Rank(r), is_moved[r]) << "rank " << r;
    }
  }
  EXPECT_EQ(distinct.size(), group.size());
}

TEST(FindSymmetries, TurnsTheDigitsOfKnownFabrics) {
  EXPECT_EQ(orders(test::torus({3, 4, 5})), (std::vector{3, 4, 5}));
  EXPECT_EQ(orders(test::hypercube(4)), (std::vector{2, 2, 2, 2}));
  EXPECT_EQ(orders(test::dgx_a100(3)), (std::vector{8, 3}));
  EXPECT_EQ(orders(test::h100_rails(4, 2)), (std::vector{8, 4}));
  EXPECT_EQ(orders(test::mi250(3)).back(), 3);
  EXPECT_EQ(orders(test::fat_tree(4)), (std::vector{2, 2, 4}));
}

TEST(FindSymmetries, ReturnsGroupsOfAutomorphisms) {
  for (const Network& network :
       {test::torus({3, 4}), test::dgx_a100(3), test::h100_rails(3, 2), test::fat_tree(4),
        test::dragonfly(2, 2, 1), test::jellyfish(8, 4, 3, 1), test::mi250(2)}) {
    const auto groups = solver::find_symmetries(network, uniform_weights(network));
    ASSERT_FALSE(groups.empty());
    for (const Symmetry& group : groups) expect_group(network, uniform_weights(network), group);
  }
}

TEST(FindSymmetries, RespectsWeights) {
  const Network network = test::torus({4, 4});
  Weights weights = uniform_weights(network);
  for (std::size_t r = 0; r < 16; r += 2) weights[Rank(r)] = 3;
  const auto groups = solver::find_symmetries(network, weights);
  ASSERT_FALSE(groups.empty());
  for (const Symmetry& group : groups) expect_group(network, weights, group);
  weights[Rank(5)] = 7;  // one rank is unlike all others: nothing moves it
  for (const Symmetry& group : solver::find_symmetries(network, weights)) {
    expect_group(network, weights, group);
    EXPECT_EQ(group.generators().front().ranks[Rank(5)], Rank(5));
  }
}

// Automorphisms too; as many images as the ranks that stay can even out, or fewer.
TEST(InBlocks, TurnsBlocksOfWhatIsWhole) {
  for (const Network& network :
       {test::one_percent_degraded(test::dgx_a100(32), 1),
        test::one_percent_degraded(test::dgx_a100(37), 2), test::h100_rails_alone(23, 2, 1)}) {
    const Weights weights = uniform_weights(network);
    const auto groups = solver::find_symmetries(network, weights);
    ASSERT_FALSE(groups.empty());
    const auto finer = solver::in_blocks(network, groups.front());
    ASSERT_FALSE(finer.empty());
    for (const Symmetry& blocks : finer) {
      expect_group(network, weights, blocks);
      std::size_t fixed = 0;
      for (std::size_t r = 0; r < network.ranks.size(); ++r) {
        const bool stays = blocks.generators().front().ranks[Rank(r)] == Rank(r);
        const bool stayed = groups.front().generators().front().ranks[Rank(r)] == Rank(r);
        EXPECT_LE(stayed, stays);
        fixed += stays;
      }
      EXPECT_GE(fixed, 2 * blocks.size());
      EXPECT_LT(fixed, network.ranks.size());
    }
  }
}

// One box is not like the others: they turn, and it stays.
Network with_slow_link(const Network& network) {
  test::FabricBuilder builder(network.ranks.size(),
                              network.graph.node_count() - network.ranks.size());
  bool slow = true;
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const NodeId tail = network.graph.tail(ArcId(a)), head = network.graph.head(ArcId(a));
    if (head < tail) continue;
    builder.link(tail.index(), head.index(), 2 * network.capacity[ArcId(a)] - (slow ? 1 : 0));
    slow = false;
  }
  return builder.build();
}

TEST(FindSymmetries, LeavesADamagedBoxAlone) {
  const Network network = with_slow_link(test::dgx_a100(6));
  const auto groups = solver::find_symmetries(network, uniform_weights(network));
  ASSERT_FALSE(groups.empty());
  expect_group(network, uniform_weights(network), groups.front());
  EXPECT_EQ(groups.front().size() % 5, 0U);
  for (std::size_t r = 0; r < 48; ++r) {
    EXPECT_EQ(groups.front().generators().front().ranks[Rank(r)] == Rank(r), r < 8);
  }
}

// As with a failed GPU: the other boxes are turned, wherever the one with a rank less stands.
Network without_rank(const Network& network, Rank gone) {
  Network rest = network;
  rest.ranks.erase(rest.ranks.begin() + gone.value);
  rest.weight = {};
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    Rank& rank = rest.rank_of[network.ranks[r]];
    if (rank == gone) {
      rank = Rank();
    } else if (rank > gone) {
      --rank.value;
    }
  }
  return rest;
}

TEST(FindSymmetries, LeavesABoxAloneThatLacksARank) {
  for (const std::size_t gone : {0U, 7U, 43U, 127U}) {
    const Network network = without_rank(test::dgx_a100(16), Rank(gone));
    const Weights weights = uniform_weights(network);
    const auto groups = solver::find_symmetries(network, weights);
    ASSERT_FALSE(groups.empty()) << gone;
    expect_group(network, weights, groups.front());
    EXPECT_GE(groups.front().size(), 15U) << gone;
  }
}

TEST(FindSymmetries, FindsNoneWhereThereIsNone) {
  test::FabricBuilder builder(4);
  builder.link(0, 1, 1);
  builder.link(1, 2, 2);
  builder.link(2, 3, 3);
  builder.link(3, 0, 4);
  const Network network = builder.build();
  EXPECT_TRUE(solver::find_symmetries(network, uniform_weights(network)).empty());
}

TEST(Orbits, SumToTheWholeGroup) {
  const Network network = test::h100_rails(4, 2);
  const solver::Core core = solver::make_core(network, network.capacity);
  const auto groups = solver::find_symmetries(network, uniform_weights(network));
  const auto orbits = solver::make_orbits(core, groups.front());
  ASSERT_TRUE(orbits);
  std::map<ArcId, std::int64_t> members;
  for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
    EXPECT_EQ(core.capacity[ArcId(a)], core.capacity[orbits->arc_orbit[ArcId(a)]]);
    ++members[orbits->arc_orbit[ArcId(a)]];
  }
  for (const auto& [least, count] : members) {
    EXPECT_EQ(count * orbits->weight[least], orbits->images());
  }
  EXPECT_EQ(orbits->roots, std::vector{Rank(0)});
}

struct Packed {
  Packing packing;
  Scaling scaling;
  Weights weights;
};

Packed pack_optimally(const Network& network, const Weights& weights, bool symmetry) {
  const Scaling scaling = scale_to_optimum(network, optimal_rate(network, weights));
  PackOptions options;
  options.symmetry = symmetry;
  return {*pack(network, weights, scaling, options), scaling, weights};
}

void expect_packed(const Network& network, const Packed& packed) {
  EXPECT_EQ(packed.packing.scaling.scale, packed.scaling.scale);
  EXPECT_EQ(test::find_forest_flaw(network, packed.weights, packed.scaling, packed.packing.forest),
            "");
}

TEST(PackWithImagesLong, ReachesTheOptimumOnEveryFamily) {
  for (const Network& network :
       {test::torus({4, 4}), test::torus({3, 5}), test::torus({2, 3, 4}), test::hypercube(5),
        test::dgx_a100(2), test::dgx_a100(5), test::h100_rails(4, 2), test::h100_rails(34, 4),
        test::mi250(1), test::mi250(2), test::mi250(4), test::fat_tree(4), test::fat_tree(6),
        test::dragonfly(2, 2, 1), test::dragonfly(4, 2, 2), test::jellyfish(8, 4, 3, 1),
        test::jellyfish(12, 3, 4, 2), test::direct_boxes(3, 6)}) {
    const Packed packed = pack_optimally(network, uniform_weights(network), true);
    expect_packed(network, packed);
  }
}

TEST(PackWithImages, StoresOneTreePerOrbitAndMultiplicity) {
  const Packed packed =
      pack_optimally(test::dgx_a100(16), uniform_weights(test::dgx_a100(16)), true);
  EXPECT_EQ(packed.packing.forest.tree_count(), 128U);
  EXPECT_EQ(packed.packing.forest.base_trees().size(), 1U);
  EXPECT_TRUE(packed.packing.forest.has_images(packed.packing.forest.base_trees().front()));
}

TEST(PackWithImages, PacksTheRanksThatStayOneByOne) {
  const Network network = with_slow_link(test::dgx_a100(6));
  const Packed packed = pack_optimally(network, uniform_weights(network), true);
  expect_packed(network, packed);
  const Forest& forest = packed.packing.forest;
  const auto base = forest.base_trees();
  EXPECT_LT(base.size(), forest.tree_count());
  EXPECT_TRUE(
      std::any_of(base.begin(), base.end(), [&](TreeId t) { return forest.has_images(t); }));
  for (const TreeId t : base) {
    EXPECT_EQ(forest.has_images(t), forest.tree(t).root >= Rank(8)) << t.value;
  }
}

TEST(PackWithImages, AgreesWithPackingEachRoot) {
  for (const Network& network : {test::torus({4, 4}), test::dgx_a100(3), test::mi250(2)}) {
    const Weights weights = uniform_weights(network);
    const Packed each = pack_optimally(network, weights, false);
    expect_packed(network, each);
    EXPECT_EQ(each.packing.forest.base_trees().size(), each.packing.forest.tree_count());
    EXPECT_EQ(each.packing.scaling.scale, pack_optimally(network, weights, true).scaling.scale);
  }
}

TEST(PackWithImages, TakesSymmetricWeights) {
  const Network network = test::torus({4, 4});
  Weights weights = uniform_weights(network);
  for (std::size_t r = 0; r < 16; ++r) weights[Rank(r)] = r % 2 == 0 ? 3 : 0;
  expect_packed(network, pack_optimally(network, weights, true));
}

// Hard ones: several threads find violated cuts, of which the first counts, also where it is found
// last.
TEST(PackLong, DoesNotDependOnTheNumberOfThreads) {
  int hard = 0;
  for (const Network& network : {with_slow_link(test::jellyfish(32, 8, 6, 3)),
                                 test::jellyfish(16, 16, 3, 1), with_slow_link(test::mi250(6))}) {
    const Weights weights = uniform_weights(network);
    const Scaling scaling = *scale_to_k(network, weights, optimal_rate(network, weights), 2);
    std::vector<Packing> packings;
    for (const int threads : {1, 2, 3}) {
      PackOptions options;
      options.threads = threads;
      options.effort = Effort::fast;
      packings.push_back(*pack(network, weights, scaling, options));
    }
    hard += packings.front().statistics.repairs > 24 ? 1 : 0;
    for (const Packing& other : packings) {
      EXPECT_EQ(other.statistics.checks, packings.front().statistics.checks);
      EXPECT_EQ(other.statistics.repairs, packings.front().statistics.repairs);
      ASSERT_EQ(other.forest.tree_count(), packings.front().forest.tree_count());
      for (std::size_t t = 0; t < other.forest.tree_count(); ++t) {
        for (std::size_t v = 0; v < network.ranks.size(); ++v) {
          ASSERT_EQ(other.forest.parent(TreeId(t), Rank(v)),
                    packings.front().forest.parent(TreeId(t), Rank(v)));
        }
      }
    }
  }
  EXPECT_GE(hard, 2);
}

TEST(Pack, StopsWhenAsked) {
  const Network network = test::dgx_a100(4);
  const Weights weights = uniform_weights(network);
  std::stop_source stop;
  stop.request_stop();
  PackOptions options;
  options.stop = stop.get_token();
  for (const bool symmetry : {true, false}) {
    options.symmetry = symmetry;
    const auto packing =
        pack(network, weights, scale_to_optimum(network, optimal_rate(network, weights)), options);
    ASSERT_FALSE(packing);
    EXPECT_EQ(packing.errors().front().code, Code::R01);
  }
}

}  // namespace
}  // namespace forestcoll
