#include "solver/pack/pack_trees.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "forestcoll/congestion.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "solver/common/core.hpp"
#include "solver/pack/flat_by_parts.hpp"
#include "solver/rate/scale.hpp"
#include "solver/symmetry/orbits.hpp"
#include "solver/symmetry/symmetry.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

struct Packed {
  Packing packing;
  std::int32_t least_height = 0;
};

// At the optimal rate, and found to be without a flaw.
Packed packed(const Network& network, bool symmetry) {
  const Weights weights = uniform_weights(network);
  const Scaling scaling = scale_to_optimum(network, optimal_rate(network, weights));
  auto packing = pack(network, weights, scaling, {.symmetry = symmetry});
  EXPECT_EQ(test::find_forest_flaw(network, weights, packing->scaling, packing->forest), "");
  return {*std::move(packing), height_lower_bound(network, weights, scaling)};
}

TEST(PackTreesLong, GivesAHardPackingUpForFlatTrees) {
  for (const bool symmetry : {false, true}) {
    const auto [packing, least] = packed(test::jellyfish(64, 6, 6, 1), symmetry);
    EXPECT_LT(packing.statistics.repairs, 100) << "it went on to the end";
    EXPECT_EQ(packing.forest.max_height(), 2);
    EXPECT_EQ(least, 2);
  }
}

// Images under the groups of these fabrics take a hundred times as long as trees root by root, or
// more, and are given up; rank by rank, fabrics without switches are packed in a moment, and low.
TEST(PackTreesLong, PacksIrregularFabricsRankByRank) {
  for (const Network& network :
       {test::generalized_kautz(150, 4), test::generalized_kautz(120, 3), test::slim_fly(5),
        test::random_regular(200, 4, 1), test::random_regular(128, 8, 1)}) {
    const auto [packing, least] = packed(network, true);
    EXPECT_LE(packing.forest.max_height(), least + 1);
    EXPECT_LT(packing.statistics.repairs, 100);
  }
}

// One slow link or dead NIC is no matter for the trees of the other boxes.
TEST(PackTreesLong, MendsFlatTreesWhereTheDamageIsLocal) {
  for (const Network& network :
       {test::one_percent_degraded(test::dgx_a100(16), 1),
        test::one_percent_degraded(test::dgx_a100(32), 1),
        test::one_percent_degraded(test::dgx_a100(32), 2),
        test::one_percent_degraded(test::dgx_a100(64), 1), test::h100_rails_alone(32, 3, 1),
        test::derated(test::dgx_a100(32), NodeId(std::size_t{0}), NodeId(std::size_t{258}),
                      Ratio(1, 2)),
        test::damaged_fat_tree(8, 3, 1)}) {
    const auto [packing, least] = packed(network, true);
    EXPECT_LE(packing.forest.max_height(), least + 1);
  }
}

// The GPUs of a router take the same ways if one stands for all, and these are too few; another
// group, or none, gives them stars.
TEST(PackTreesLong, PacksStarsWhereImagesUnderTheFirstGroupDoNotFit) {
  const auto [packing, least] = packed(test::dragonfly(6, 3, 3), true);
  EXPECT_EQ(packing.forest.max_height(), 1);
  EXPECT_EQ(least, 1);
}

struct InBlocks {
  solver::Core core;
  std::optional<solver::Orbits> orbits;  // of the fewest images
};

InBlocks in_blocks(const Network& network, const Scaling& scaling) {
  InBlocks result{solver::make_core(network, scaling.capacity), {}};
  const auto groups = solver::find_symmetries(network, uniform_weights(network));
  if (groups.empty()) return result;
  const auto blocks = solver::in_blocks(network, groups.front());
  if (!blocks.empty()) result.orbits = solver::make_orbits(result.core, blocks.back());
  return result;
}

// One tree for each block of boxes that are whole, and one for each rank of the others, as low as
// the bound or nearly, at the optimum.
TEST(PackFlatByPartsLong, DamageTakesTreesOfItsOwnAndTheRestIsImages) {
  for (const Network& network : {test::one_percent_degraded(test::dgx_a100(64), 1),
                                 test::one_percent_degraded(test::dgx_a100(64), 2),
                                 test::one_percent_degraded(test::dgx_a100(48), 3),
                                 test::derated(test::dgx_a100(40), NodeId(std::size_t{0}),
                                               NodeId(std::size_t{322}), Ratio(1, 2))}) {
    const Weights weights = uniform_weights(network);
    const Scaling scaling = scale_to_optimum(network, optimal_rate(network, weights));
    const auto [core, orbits] = in_blocks(network, scaling);
    ASSERT_TRUE(orbits);
    Weights owed = weights;
    for (auto& trees : owed) trees *= scaling.k;
    const std::int32_t least = height_lower_bound(network, weights, scaling);
    const solver::LeastHeight bound{.distance = least, .exact = [&] { return least; }};
    const auto packed = solver::pack_flat_by_parts(core, *orbits, owed, bound, 2, {});
    ASSERT_TRUE(packed);
    ASSERT_TRUE(packed->fits()) << packed->stretch.to_string();
    EXPECT_EQ(test::find_forest_flaw(network, weights, scaling, packed->forest), "");
    EXPECT_LE(packed->forest.max_height(), least + 1);
    EXPECT_GT(packed->forest.symmetry().size(), 1U);
    EXPECT_LT(packed->forest.base_trees().size(), packed->forest.tree_count() / 2);
  }
}

TEST(PackFlatByParts, IsNothingWhereItIsToldToStop) {
  const Network network = test::one_percent_degraded(test::dgx_a100(32), 1);
  const Weights weights = uniform_weights(network);
  const Scaling scaling = scale_to_optimum(network, optimal_rate(network, weights));
  const auto [core, orbits] = in_blocks(network, scaling);
  ASSERT_TRUE(orbits);
  std::stop_source source;
  source.request_stop();
  PackOptions options;
  options.stop = source.get_token();
  const solver::LeastHeight bound{.distance = 2, .exact = [] { return 2; }};
  EXPECT_FALSE(solver::pack_flat_by_parts(core, *orbits, weights, bound, 2, options));
}

// Trees of all roots, and of blocks with their images, both phases at once: by the loads of both.
TEST(PackFlatUndirected, BothPhasesFitTheLinksTogether) {
  const Network network = test::one_percent_degraded(test::dgx_a100(24), 1);
  const Weights weights = uniform_weights(network);
  // A whole box of 8 · 2 units roots 8 of 192 trees, which takes 23 times as much; a fifth more.
  const Ratio scale(23 * 6, 5);
  const solver::Core core = solver::make_core(network, solver::floor_capacities(network, scale));
  const auto back = solver::arcs_back(core);
  ASSERT_TRUE(back);
  std::vector<solver::Orbits> all = {solver::trivial_orbits(core)};
  for (const Symmetry& group :
       solver::in_blocks(network, solver::find_symmetries(network, weights).front())) {
    auto orbits = solver::make_orbits(core, group);
    ASSERT_TRUE(orbits);
    all.push_back(*std::move(orbits));
  }
  ASSERT_GT(all.size(), 1U);
  for (const solver::Orbits& orbits : all) {
    const solver::LeastHeight bound{.distance = 2, .exact = [] { return 2; }};
    const auto packed = solver::pack_flat_undirected(core, orbits, *back, weights, bound, 1, {});
    ASSERT_TRUE(packed);
    ASSERT_TRUE(packed->fits()) << packed->stretch.to_string();
    EXPECT_LE(packed->forest.max_height(), 3);
    EXPECT_EQ(packed->forest.symmetry().size(), orbits.group.size());
    CollectiveForest forest;
    forest.collective = Collective::allreduce;
    forest.broadcast = packed->forest;
    forest.reduce = packed->forest.reversed();
    const Ratio most = Ratio(static_cast<std::int64_t>(weights.size())) / scale * network.unit;
    EXPECT_GE(*congestion_algbw(forest, network), most);
    const Scaling wide{1, scale, {}};
    EXPECT_EQ(test::find_forest_flaw(network, weights, wide, packed->forest), "");
  }
}

TEST(PackFlatUndirected, NeedsLinksThatAreAlikeBothWays) {
  const auto has_back = [](const Network& network) {
    return solver::arcs_back(solver::make_core(network, network.capacity)).has_value();
  };
  test::FabricBuilder circle(3);
  for (std::size_t v = 0; v < 3; ++v) circle.arc(v, (v + 1) % 3, 1);
  EXPECT_FALSE(has_back(circle.build()));
  test::FabricBuilder unequal(3);
  unequal.link(0, 1, 1);
  unequal.link(1, 2, 1);
  unequal.arc(0, 2, 2);
  unequal.arc(2, 0, 1);
  EXPECT_FALSE(has_back(unequal.build()));
  EXPECT_TRUE(has_back(test::h100_rails(3, 1)));
}

// No rank stays, so none could even out what images leave.
TEST(PackFlatByParts, WholeFabricsHaveNoBlocks) {
  const Network network = test::dgx_a100(8);
  const auto groups = solver::find_symmetries(network, uniform_weights(network));
  ASSERT_FALSE(groups.empty());
  EXPECT_TRUE(solver::in_blocks(network, groups.front()).empty());
}

// From some size on, where one tree for every root takes too long.
TEST(PackTreesLong, LargeFabricsWithLocalDamageArePackedByImages) {
  const Network network = test::one_percent_degraded(test::dgx_a100(192), 1);
  const auto [packing, least] = packed(network, true);
  EXPECT_LE(packing.forest.max_height(), least + 1);
  EXPECT_LT(packing.forest.base_trees().size(), packing.forest.tree_count() / 2);
}

}  // namespace
}  // namespace forestcoll
