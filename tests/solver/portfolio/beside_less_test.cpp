// More freedom is never worse, on damaged tori and random fabrics.
#include "solver/portfolio/beside_less.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "forestcoll/synthesize.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

using Mode = TreesPerRoot::Mode;

// A small torus with some links gone.
Network damaged_torus(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t rows = 3, columns = 3 + seed % 3;
  Network network = test::torus({rows, columns});
  for (int fault = 0; fault < 2; ++fault) {
    const std::size_t v = random() % (rows * columns);
    const std::size_t right = v / columns * columns + (v + 1) % columns;
    if (network.graph.find(NodeId(v), NodeId(right)).valid()) {
      network = test::derated(network, NodeId(v), NodeId(right), 0);
    }
  }
  return network;
}

TEST(BesideLessLong, HigherLimitsAreNoSlower) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Network network = damaged_torus(seed);
    for (const TreesPerRoot trees :
         {TreesPerRoot{}, TreesPerRoot{Mode::power_of_two, 16}, TreesPerRoot{Mode::fixed, 2}}) {
      Ratio before = 0;
      for (std::int32_t height = 1; height <= 7; ++height) {
        SynthesizeOptions options;
        options.trees_per_root = trees;
        options.max_height = height;
        const auto found = synthesize(network, options);
        if (!found) continue;
        EXPECT_GE(found->forest.algbw, before) << seed << ' ' << height;
        EXPECT_LE(solver::height_of(found->forest), height);
        before = found->forest.algbw;
      }
      EXPECT_GT(before, Ratio(0));
    }
  }
}

TEST(BesideLessLong, AnyNumberOfTreesIsNoWorseThanFewer) {
  for (std::uint64_t seed = 20; seed < 32; ++seed) {
    const Network network =
        seed % 2 == 0 ? damaged_torus(seed)
                      : test::random_fabric(
                            seed, {.max_compute = 7, .max_switches = 2, .one_way = seed % 4 == 1});
    const auto any = synthesize(network, {});
    ASSERT_TRUE(any);
    for (const TreesPerRoot trees :
         {TreesPerRoot{Mode::power_of_two, 16}, TreesPerRoot{Mode::best_up_to, 16}}) {
      const auto fewer = synthesize(network, {.trees_per_root = trees});
      ASSERT_TRUE(fewer);
      EXPECT_FALSE(solver::is_better(fewer->forest, any->forest)) << seed;
    }
  }
}

// By definition: the best of all attempts that are allowed, each made once, until one is slower
// than what is known, which each is told.
TEST(BesideLess, TriesWhatAllowsLess) {
  const Network network = test::torus({3, 3});
  std::vector<std::int32_t> heights;
  std::vector<Ratio> told;
  const solver::Attempt attempt = [&](const SynthesizeOptions& asked,
                                      const Ratio& least) -> Expected<Synthesis> {
    heights.push_back(*asked.max_height);
    told.push_back(least);
    auto found = synthesize(network, {.collective = Collective::allgather, .beside_less = false});
    if (*asked.max_height < 2) return make_error(Code::E16, "too low", "allow more");
    found->forest.optimum = Ratio(1000);
    found->forest.algbw = *asked.max_height == 3 ? Ratio(900) : Ratio(800);
    return found;
  };
  SynthesizeOptions options;
  options.trees_per_root = {Mode::fixed, 1};
  options.max_height = 5;
  const auto best = solver::best_beside_less(network, options, attempt);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->forest.algbw, Ratio(900));
  EXPECT_EQ(heights, (std::vector<std::int32_t>{5, 4, 3, 2}));
  EXPECT_EQ(told, (std::vector<Ratio>{Ratio(0), Ratio(800), Ratio(800), Ratio(900)}));
  options.beside_less = false;
  EXPECT_EQ(solver::best_beside_less(network, options, attempt)->forest.algbw, Ratio(800));
}

}  // namespace
}  // namespace forestcoll
