// Trees of limited height by a linear program, beside all trees of small fabrics.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/low/low_counts.hpp"
#include "solver/low/low_oracle.hpp"
#include "solver/low/low_program.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

Network small_fabric(std::uint64_t seed) {
  return test::random_fabric(seed, {.max_compute = 5,
                                    .max_switches = static_cast<std::size_t>(seed % 3),
                                    .one_way = seed % 4 == 1});
}

SynthesizeOptions low(Collective collective, std::int32_t height,
                      TreesPerRoot trees = {TreesPerRoot::Mode::optimal, 0}) {
  SynthesizeOptions options;
  options.collective = collective;
  options.max_height = height;
  options.trees_per_root = trees;
  return options;
}

std::int32_t height_of(const CollectiveForest& forest) {
  std::int32_t height = 0;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (*phase) height = std::max(height, (*phase)->max_height());
  }
  return height;
}

// In the network's units.
double rate_of(const CollectiveForest& forest, const Network& network) {
  return (forest.algbw / network.unit).to_double();
}

// Shares of the best rates of all low trees.
struct Shares {
  int exact = 0, all = 0;

  void add(double share, const std::string& where) {
    EXPECT_LE(share, 1 + 1e-6) << where;
    EXPECT_GE(share, 0.999) << where;
    exact += share > 1 - 1e-6 ? 1 : 0;
    ++all;
  }
  void expect_exact() const { EXPECT_GE(exact * 100, all * 97) << exact << " of " << all; }
};

TEST(LowAllreduceLong, IsAsFastAsAllTreesOfSmallFabrics) {
  Shares shares;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Network network = small_fabric(seed);
    for (std::int32_t height = 1; height <= 3; ++height) {
      const std::string where =
          "seed " + std::to_string(seed) + ", height " + std::to_string(height);
      const auto most = test::low_allreduce_rate(network, height);
      const auto found = synthesize(network, low(Collective::allreduce, height));
      ASSERT_EQ(most.has_value(), found.has_value()) << where;
      if (!most) continue;
      EXPECT_LE(height_of(found->forest), height) << where;
      EXPECT_LE(found->forest.algbw, *congestion_algbw(found->forest, network)) << where;
      shares.add(rate_of(found->forest, network) / *most, where);
    }
  }
  shares.expect_exact();
}

TEST(LowForests, AreAsFastAsAllTreesOfSmallFabrics) {
  Shares shares;
  for (std::uint64_t seed = 100; seed < 160; ++seed) {
    const Network network = small_fabric(seed);
    const auto collective = seed % 2 == 0 ? Collective::allgather : Collective::reduce_scatter;
    const Network fabric = seed % 2 == 0 ? network : reversed(network);
    const auto ranks = static_cast<double>(network.ranks.size());
    for (std::int32_t height = 1; height <= 3; ++height) {
      const std::string where =
          "seed " + std::to_string(seed) + ", height " + std::to_string(height);
      const auto most = test::low_rate(fabric, uniform_weights(fabric), height);
      const auto found = synthesize(network, low(collective, height));
      ASSERT_EQ(most.has_value(), found.has_value()) << where;
      if (!most) continue;
      EXPECT_LE(height_of(found->forest), height) << where;
      shares.add(rate_of(found->forest, network) / *most / ranks, where);
    }
  }
  shares.expect_exact();
}

// What all trees of that height reach, in the network's units.
std::optional<double> most_of_all_trees(const Network& network, Collective collective,
                                        std::int32_t height) {
  if (collective == Collective::allreduce) return test::low_allreduce_rate(network, height);
  const Network fabric = collective == Collective::allgather ? network : reversed(network);
  const auto most = test::low_rate(fabric, uniform_weights(fabric), height);
  return most ? std::optional(*most * static_cast<double>(network.ranks.size())) : std::nullopt;
}

// Three hundred fabrics of up to six ranks, a half of them with switches, a quarter with links of
// one direction: with any number of trees at the optimum, and with few of them near it.
TEST(LowForestsLongest, AreNearAllTreesOfThreeHundredFabricsOfUpToSix) {
  constexpr std::array kCollectives{Collective::allgather, Collective::reduce_scatter,
                                    Collective::allreduce};
  Shares shares;
  double least_of_few = 1;
  for (std::uint64_t seed = 1'000; seed < 1'300; ++seed) {
    const Network network = test::random_fabric(
        seed, {.max_compute = 6, .max_switches = seed % 2 * 2, .one_way = seed % 4 == 1});
    const Collective collective = kCollectives[seed % 3];
    for (std::int32_t height = 1; height <= 3; ++height) {
      const std::string where =
          "seed " + std::to_string(seed) + ", height " + std::to_string(height);
      const auto most = most_of_all_trees(network, collective, height);
      const auto found = synthesize(network, low(collective, height));
      ASSERT_EQ(most.has_value(), found.has_value()) << where;
      if (!most) continue;
      EXPECT_LE(height_of(found->forest), height) << where;
      shares.add(rate_of(found->forest, network) / *most, where);
      const auto few =
          synthesize(network, low(collective, height, {TreesPerRoot::Mode::power_of_two, 16}));
      ASSERT_TRUE(few) << where;
      least_of_few = std::min(least_of_few, rate_of(few->forest, network) / *most);
    }
  }
  shares.expect_exact();
  EXPECT_GE(least_of_few, 0.9);
  RecordProperty("exact", shares.exact);
  RecordProperty("all", shares.all);
  RecordProperty("least_of_few", std::to_string(least_of_few));
}

// 8 of one root reach 8.5 all together only where roots have unequal shares.
TEST(LowAllreduce, RootsMayHaveUnequalSharesOrNone) {
  test::FabricBuilder builder(5);
  const std::vector<Capacity> around{8, 1, 9, 9, 8};
  for (std::size_t v = 0; v < 5; ++v) builder.link(v, (v + 1) % 5, around[v]);
  const Network ring = builder.build();
  const auto optimal = synthesize(ring, low(Collective::allreduce, 2));
  ASSERT_TRUE(optimal);
  EXPECT_EQ(optimal->forest.algbw, Ratio(17, 2));
  EXPECT_EQ(height_of(optimal->forest), 2);
  ASSERT_FALSE(optimal->forest.weight.empty());
  EXPECT_NE(*std::ranges::min_element(optimal->forest.weight),
            *std::ranges::max_element(optimal->forest.weight));
  const auto few =
      synthesize(ring, low(Collective::allreduce, 2, {TreesPerRoot::Mode::power_of_two, 16}));
  ASSERT_TRUE(few);
  EXPECT_GE(few->forest.algbw, Ratio(8));
}

TEST(LowAllreduce, OneRootThatReachesAllIsEnough) {
  test::FabricBuilder builder(3);
  builder.link(0, 1, 4);
  builder.link(1, 2, 4);
  const auto found = synthesize(builder.build(), low(Collective::allreduce, 1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->forest.algbw, found->forest.optimum);
  EXPECT_EQ(found->forest.weight[Rank(1)], 1);
  EXPECT_EQ(found->least_height, 1);
}

TEST(LowAllreduce, NamesTheLeastHeightOfAnyRoot) {
  test::FabricBuilder builder(5);
  for (std::size_t v = 0; v < 4; ++v) builder.link(v, v + 1, 4);
  const Network line = builder.build();
  const auto impossible = synthesize(line, low(Collective::allreduce, 1));
  ASSERT_FALSE(impossible);
  EXPECT_EQ(impossible.errors().front().code, Code::E16);
  EXPECT_NE(impossible.errors().front().remedy.find("height of 2"), std::string::npos);
  EXPECT_TRUE(synthesize(line, low(Collective::allreduce, 2)));
}

TEST(LowAllreduceLong, HigherTreesAreNoSlowerWhateverTheNumberOfTrees) {
  for (std::uint64_t seed = 200; seed < 215; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 8, .max_switches = 2});
    for (const TreesPerRoot& trees : {TreesPerRoot{TreesPerRoot::Mode::optimal, 0},
                                      TreesPerRoot{TreesPerRoot::Mode::power_of_two, 8}}) {
      Ratio before = 0;
      for (std::int32_t height = 1; height <= 5; ++height) {
        const auto found = synthesize(network, low(Collective::allreduce, height, trees));
        if (!found) continue;
        EXPECT_GE(found->forest.algbw.to_double(), before.to_double() * (1 - 1e-6)) << seed;
        before = std::max(before, found->forest.algbw);
      }
    }
  }
}

// Whatever the number of trees, none as fast is lower.
TEST(LowForests, TheFastestOfFewRanksAreTheLowest) {
  const Network cube = test::hypercube(3);
  SynthesizeOptions any = low(Collective::broadcast, 1);
  any.max_height.reset();
  any.root = Rank(std::size_t{0});
  const auto found = synthesize(cube, any);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->forest.algbw, found->forest.optimum);
  EXPECT_LE(height_of(found->forest), 4);
  for (std::uint64_t seed = 400; seed < 420; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 7, .max_switches = 2});
    SynthesizeOptions options = low(Collective::allreduce, 1);
    options.max_height.reset();
    const auto fastest = synthesize(network, options);
    ASSERT_TRUE(fastest);
    const std::int32_t height = height_of(fastest->forest);
    for (std::int32_t h = 1; h < height; ++h) {
      const auto lower = synthesize(network, low(Collective::allreduce, h));
      EXPECT_TRUE(!lower || lower->forest.algbw < fastest->forest.algbw) << seed << ' ' << h;
    }
  }
}

// Neither faster nor, of equals, lower than what may take any number.
TEST(LowForestsLong, NoNumberOfTreesBeatsTheOptimumInRateOrHeight) {
  const Rank first(std::size_t{0});
  for (std::uint64_t seed = 600; seed < 615; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 8, .max_switches = 1});
    for (const Collective collective :
         {Collective::broadcast, Collective::allgather, Collective::allreduce}) {
      SynthesizeOptions options = low(collective, 1);
      options.max_height.reset();
      if (collective == Collective::broadcast) options.root = first;
      const auto optimal = synthesize(network, options);
      ASSERT_TRUE(optimal);
      for (std::int64_t k = 1; k <= 8; ++k) {
        options.trees_per_root = {TreesPerRoot::Mode::fixed, k};
        const auto fixed = synthesize(network, options);
        ASSERT_TRUE(fixed);
        EXPECT_LE(fixed->forest.algbw, optimal->forest.algbw) << seed << ' ' << k;
        if (fixed->forest.algbw < optimal->forest.algbw) continue;
        EXPECT_GE(height_of(fixed->forest), height_of(optimal->forest)) << seed << ' ' << k;
      }
    }
  }
}

// The greatest effort has a budget: so many searches for lower trees, whatever they find.
TEST(LowForests, TheGreatestEffortEndsAfterSoManySearches) {
  for (std::uint64_t seed = 500; seed < 504; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 10, .max_switches = 0});
    for (const bool is_low : {false, true}) {
      SynthesizeOptions options =
          low(Collective::allgather, 4, {TreesPerRoot::Mode::best_up_to, 16});
      if (!is_low) options.max_height.reset();
      options.packing.effort = Effort::max;
      int searches = 0;
      options.packing.progress = [&](std::string_view stage, std::optional<double> done) {
        searches += stage == "lowering trees" && !done ? 1 : 0;
      };
      const auto found = synthesize(network, options);
      EXPECT_LE(searches, 200) << seed << ' ' << is_low;
    }
  }
}

TEST(LowTreeSearch, ManyRanksHaveTreesThatAreLowEnough) {
  const Network network = test::random_regular(24, 4, 3);
  solver::LowTreeSearch search(network, 4);
  EXPECT_FALSE(search.is_exact());
  std::mt19937 random(1);
  for (int round = 0; round < 5; ++round) {
    IdVector<ArcId, std::int64_t> prices;
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) prices.push_back(random() % 1000);
    search.set_prices(prices);
    for (std::size_t r = 0; r < 24; ++r) {
      for (const auto start : {solver::LowTreeSearch::Start::breadth_first,
                               solver::LowTreeSearch::Start::cheapest_edges}) {
        const auto tree = search.cheapest(Rank(r), start);
        if (!tree) continue;
        EXPECT_LE(solver::height_of(*tree), 4);
        std::int64_t cost = 0;
        for (const auto& route : tree->routes) {
          for (const ArcId a : route) cost += prices[a] + 1;
        }
        EXPECT_EQ(cost, search.cost_of(*tree));
      }
    }
  }
}

// A root with a lower limit has the trees that all have at that one, and the others theirs.
TEST(LowTreeSearch, RootsMayHaveLowerLimits) {
  std::mt19937 random(2);
  for (const std::size_t ranks : {8, 24}) {
    const Network network = test::random_regular(ranks, 4, 5);
    solver::LowTreeSearch search(network, 5), lower(network, 3), all(network, 5);
    search.limit(Rank(1), 3);
    IdVector<ArcId, std::int64_t> prices;
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) prices.push_back(random() % 1000);
    for (auto* each : {&search, &lower, &all}) each->set_prices(prices);
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto found = search.cheapest(Rank(r));
      const auto expected = (r == 1 ? lower : all).cheapest(Rank(r));
      ASSERT_EQ(found.has_value(), expected.has_value());
      if (found) {
        EXPECT_EQ(found->parent, expected->parent);
      }
    }
  }
}

// What needs more than is asked for is given up, and nothing else.
TEST(LowPrograms, GiveUpWhatIsWorthNothing) {
  for (std::uint64_t seed = 700; seed < 730; ++seed) {
    const Network network = small_fabric(seed);
    solver::LowProblem problem = solver::low_allreduce(network, 2);
    const auto most = solver::solve_low(problem, {});
    if (!most || !most->is_optimal) continue;
    problem.most_congestion = most->congestion * 1.001;
    const auto enough = solver::solve_low(problem, {});
    ASSERT_TRUE(enough) << seed;
    EXPECT_LE(enough->congestion, *problem.most_congestion);
    problem.most_congestion = most->congestion * 0.999;
    EXPECT_FALSE(solver::solve_low(problem, {})) << seed;
  }
}

// A root has one tree of height 1, so that the program is solved whatever the number of ranks: no
// star needs less than what its leaves take in.
TEST(LowPrograms, StarsOfManyRanksAreAtTheOptimum) {
  for (const std::size_t dead : {0, 1}) {
    const Network network = test::damaged_fat_tree(4, dead, 1);
    const auto ranks = network.ranks.size();
    ASSERT_GT(ranks, solver::LowTreeSearch::kMostExact);
    solver::LowProblem problem = solver::low_problem(network, Weights(ranks, 1), 1);
    const auto found = solver::solve_low(problem, {});
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->is_optimal);
    const auto in = network.graph.in(network.ranks.front());
    const auto into = static_cast<double>(network.capacity[*in.begin()]);
    EXPECT_GE(found->congestion * into, static_cast<double>(ranks - 1) * (1 - 1e-6));
    if (dead == 0) {
      EXPECT_NEAR(found->congestion * into, static_cast<double>(ranks - 1), 1e-6);
    }
    problem.height = 2;
    const auto higher = solver::solve_low(problem, {});
    ASSERT_TRUE(higher);
    EXPECT_FALSE(higher->is_optimal);
    EXPECT_LE(higher->congestion, found->congestion * (1 + 1e-6));
  }
}

// Beside all shares in eighths that roots can have: none of them needs less.
TEST(LowPrograms, RootsTakeWhatTheyHave) {
  for (std::uint64_t seed = 800; seed < 830; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 3, .max_switches = 1});
    if (network.ranks.size() != 3) continue;
    solver::LowProblem problem = solver::low_problem(network, {}, 2);
    problem.shares.reset();
    const auto any = solver::solve_low(problem, {});
    std::mt19937_64 random(seed);
    for (std::size_t r = 0; r < 3; ++r) problem.root_capacity.push_back(1 + random() % 20);
    const auto found = solver::solve_low(problem, {});
    ASSERT_EQ(any.has_value(), found.has_value()) << seed;
    if (!found) continue;
    EXPECT_GE(found->congestion, any->congestion * (1 - 1e-6)) << seed;
    std::vector<double> roots(3, 0);
    for (std::size_t t = 0; t < found->columns.size(); ++t) {
      roots[found->columns[t].tree.root.index()] += found->amounts[t];
    }
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_LE(roots[r], found->congestion * static_cast<double>(problem.root_capacity[Rank(r)]) *
                              (1 + 1e-6))
          << seed;
    }
    for (std::int64_t a = 0; a <= 8; ++a) {
      for (std::int64_t b = 0; a + b <= 8; ++b) {
        const std::vector<std::int64_t> parts{a, b, 8 - a - b};
        Weights shares;
        for (const std::int64_t part : parts) shares.push_back(part);
        const auto given = solver::solve_low(solver::low_problem(network, shares, 2), {});
        if (!given) continue;
        double congestion = given->congestion / 8;
        for (std::size_t r = 0; r < 3; ++r) {
          congestion =
              std::max(congestion, static_cast<double>(parts[r]) / 8 /
                                       static_cast<double>(problem.root_capacity[Rank(r)]));
        }
        EXPECT_GE(congestion, found->congestion * (1 - 1e-6)) << seed;
      }
    }
  }
}

TEST(LowCounts, RoundedOnesAreWhatIsOwed) {
  for (std::uint64_t seed = 300; seed < 330; ++seed) {
    const Network network = small_fabric(seed);
    Weights shares = uniform_weights(network);
    shares[Rank(std::size_t{0})] = 3;
    const solver::LowProblem problem = solver::low_problem(network, shares, 4);
    const auto solution = solver::solve_low(problem, {});
    ASSERT_TRUE(solution);
    EXPECT_TRUE(solution->is_optimal);
    for (const std::int64_t k : {1, 2, 7}) {
      const auto counts = solver::rounded_counts(problem, *solution, k);
      const Forest forest = solver::low_forest(problem, *solution, counts, 0);
      Scaling scaling{k, counts.scale, {}};
      EXPECT_GE(counts.scale.to_double(),
                solution->congestion * static_cast<double>(k) * (1 - 1e-6));
      EXPECT_EQ(test::find_forest_flaw(network, shares, scaling, forest), "") << seed;
    }
  }
}

}  // namespace
}  // namespace forestcoll
