// Allreduces whose two phases share every link at the same time.
#include "solver/allreduce/at_once.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"
#include "forestcoll/verify.hpp"
#include "in_network_oracle.hpp"
#include "solver/common/rounded_shares.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

using test::FabricBuilder;

Ratio in_turn(const Network& network) {
  return bound(network, Collective::allreduce, {})->algbw;
}

Synthesis synthesized(const Network& network, const TreesPerRoot& trees = {}) {
  auto result = synthesize(network, {.trees_per_root = trees});
  if (!result) throw std::runtime_error(to_string(result.errors().front()));
  return *std::move(result);
}

// Every tree spans, every root has what it owns, and the arcs allow the rate that is claimed.
void expect_sound(const Network& network, const Synthesis& synthesis, const std::string& what) {
  const CollectiveForest& forest = synthesis.forest;
  const Weights weights = forest.weight.empty() ? uniform_weights(network) : forest.weight;
  const Ratio wide(forest.k * std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
  Scaling any{forest.k, wide, {}};
  for (const Capacity capacity : network.capacity) any.capacity.push_back(capacity * wide.num());
  EXPECT_EQ(test::find_forest_flaw(network, weights, any, *forest.broadcast), "") << what;
  EXPECT_EQ(test::find_forest_flaw(reversed(network), weights, any, forest.reduce->reversed()), "")
      << what;
  const auto reached = congestion_algbw(forest, network);
  ASSERT_TRUE(reached) << what;
  EXPECT_GE(*reached, forest.algbw) << what;
  if (synthesis.two_phases) {
    EXPECT_EQ(*reached, forest.algbw) << what;
  }
  EXPECT_LE(forest.algbw, forest.optimum) << what;
}

std::int32_t height_of(const Synthesis& synthesis) {
  return std::max(synthesis.forest.broadcast->max_height(), synthesis.forest.reduce->max_height());
}

TEST(AtOnceLong, ReachesTheOptimumOfBundledFabrics) {
  struct Known {
    std::string name;
    Ratio optimum, two_phases;
  };
  for (const Known& known : std::vector<Known>{{"mixed-a100-h100", 175, {400, 3}},
                                               {"dgx-a100-x2-degraded", {2075, 12}, {500, 3}}}) {
    const Topology topology = test::bundled_topology(known.name);
    const Network network = *to_digraph(topology);
    const Synthesis synthesis = synthesized(network);
    EXPECT_EQ(synthesis.forest.algbw, known.optimum) << known.name;
    EXPECT_EQ(synthesis.forest.optimum, known.optimum) << known.name;
    EXPECT_EQ(synthesis.two_phases, known.two_phases) << known.name;
    expect_sound(network, synthesis, known.name);
    const auto verdict =
        verify(to_forest_json(synthesis.forest, topology), known.name, &topology, {});
    ASSERT_TRUE(verdict) << to_string(verdict.errors().front());
    EXPECT_TRUE(verdict->findings.empty()) << to_string(verdict->findings.front());
    EXPECT_EQ(verdict->algbw, known.optimum);
  }
}

void expect_symmetric_forest(const std::string& text, const std::string& what) {
  const auto parsed = parse_topology(text, what);
  ASSERT_TRUE(parsed) << what;
  const Topology& topology = parsed->topology;
  const Network network = *to_digraph(topology);
  const Synthesis synthesis = synthesized(network);
  EXPECT_TRUE(synthesis.two_phases) << what;
  expect_sound(network, synthesis, what);
  const auto verdict =
      verify(to_symmetric_forest_json(synthesis.forest, topology), what, &topology, {});
  ASSERT_TRUE(verdict) << what;
  EXPECT_TRUE(verdict->ok) << what << ": " << to_string(verdict->findings.front());
}

TEST(AtOnce, SymmetricForestsAreOfTheWholeFabric) {
  for (const std::string dims : {"4x4", "3x5", "2x8"}) {
    const auto document = generate("mesh", {{"dims", dims}});
    ASSERT_TRUE(document);
    expect_symmetric_forest(to_topology_json(*document), dims);
  }
  // What the trees take of two links is alike, the links are not.
  expect_symmetric_forest(R"({"format": "forestcoll-topology", "version": 1,
       "nodes": [{"id": "g[0-3]", "type": "compute"}, {"id": "s", "type": "switch"}],
       "links": [{"src": "g0", "dst": "s", "bandwidth": 1}, {"src": "g1", "dst": "s", "bandwidth": 2},
                 {"src": "g[2-3]", "dst": "s", "bandwidth": 10}]})",
                          "star");
}

// Where links are alike both ways, trees serve any root: equal shares lose nothing.
TEST(AtOnceLong, ReachesTheOptimumOfRandomFabrics) {
  int better = 0;
  for (std::uint64_t seed = 700; seed < 780; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 6, .max_switches = 3});
    const Synthesis synthesis = synthesized(network);
    const auto optimum = allreduce_optimum(network);
    ASSERT_TRUE(optimum && optimum->is_exact()) << "seed " << seed;
    EXPECT_EQ(synthesis.forest.algbw, optimum->upper) << "seed " << seed;
    EXPECT_EQ(synthesis.two_phases.has_value(), optimum->upper > in_turn(network));
    expect_sound(network, synthesis, "seed " + std::to_string(seed));
    better += synthesis.two_phases.has_value();
  }
  EXPECT_GT(better, 20);
}

// Where they are not, other shares of the roots can be better than those that the ranks own.
TEST(AtOnceLong, ReachesTheOptimumWithOneWayArcs) {
  int better = 0, unequal = 0;
  for (std::uint64_t seed = 800; seed < 900; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = 5, .max_switches = 2, .one_way = true});
    const Synthesis synthesis = synthesized(network);
    const auto optimum = allreduce_optimum(network);
    ASSERT_TRUE(optimum && optimum->is_exact()) << "seed " << seed;
    EXPECT_EQ(synthesis.forest.algbw, std::max(optimum->upper, in_turn(network)))
        << "seed " << seed;
    expect_sound(network, synthesis, "seed " + std::to_string(seed));
    better += synthesis.two_phases.has_value();
    unequal += !synthesis.forest.weight.empty();
  }
  EXPECT_GT(better, 30);
  EXPECT_GT(unequal, 3);
}

// Rounded to k trees, the better of the two ways; as many trees as if every root had k.
TEST(AtOnceLong, FewTreesAreNoWorseThanInTurn) {
  for (std::uint64_t seed = 700; seed < 740; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = 5, .max_switches = 2, .one_way = seed % 2 == 0});
    for (const std::int64_t k : {1, 2, 4}) {
      const std::string what = "seed " + std::to_string(seed) + " k " + std::to_string(k);
      const SynthesizeOptions asked = {.trees_per_root = {TreesPerRoot::Mode::fixed, k}};
      const auto best = synthesize(network, asked);
      SynthesizeOptions apart = asked;
      apart.at_once = false;
      const auto in_turn = synthesize(network, apart);
      ASSERT_TRUE(best && in_turn) << what;
      EXPECT_FALSE(in_turn->two_phases) << what;
      EXPECT_GE(best->forest.algbw, in_turn->forest.algbw) << what;
      std::int64_t trees = 0;
      for (std::size_t t = 0; t < best->forest.broadcast->tree_count(); ++t) {
        trees += best->forest.broadcast->tree(TreeId(t)).multiplicity;
      }
      EXPECT_EQ(trees, k * static_cast<std::int64_t>(network.ranks.size())) << what;
      expect_sound(network, *best, what);
    }
  }
}

TEST(AtOnce, LowTreesAreNoWorseThanInTurn) {
  for (std::uint64_t seed = 700; seed < 720; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 5, .max_switches = 2});
    const auto least = height_lower_bound(network, uniform_weights(network));
    const auto low = synthesize(network, {.max_height = least});
    const auto apart = synthesize(network, {.max_height = least, .at_once = false});
    ASSERT_TRUE(low && apart) << "seed " << seed;
    EXPECT_LE(low->forest.broadcast->max_height(), least) << "seed " << seed;
    EXPECT_LE(low->forest.reduce->max_height(), least) << "seed " << seed;
    EXPECT_GE(low->forest.algbw, apart->forest.algbw) << "seed " << seed;
    expect_sound(network, *low, "seed " + std::to_string(seed));
  }
}

TEST(AtOnceLong, SharesThatTheRanksOwnAreKept) {
  Network network = *to_digraph(test::bundled_topology("dgx-a100-x2-degraded"));
  network.weight.assign(network.ranks.size(), 1);
  network.weight[Rank(3)] = 3;
  network.weight[Rank(5)] = 0;
  const Synthesis synthesis = synthesized(network);
  EXPECT_EQ(synthesis.forest.weight, network.weight);
  EXPECT_EQ(synthesis.forest.algbw, Ratio(2075, 12));  // trees serve any root
  expect_sound(network, synthesis, "weights");
}

TEST(AtOnce, IsNotLookedForWhereRanksAreAlike) {
  for (const Network& network : {test::dgx_a100(2), test::torus({4, 4}), test::hypercube(4)}) {
    EXPECT_FALSE(synthesized(network).two_phases);
  }
  FabricBuilder circle(4);
  for (std::size_t v = 0; v < 4; ++v) circle.arc(v, (v + 1) % 4, 3);
  EXPECT_FALSE(synthesized(circle.build()).two_phases);
}

// Where one rank has a slow link, both phases at once are faster, up to as many ranks as are tried;
// beyond, one after the other stands, and nobody says that it is the best.
TEST(AtOnce, IsLeftOpenForMoreThanAThousandRanksThatDiffer) {
  for (const std::size_t ranks : {16, 1025}) {
    FabricBuilder star(ranks, 1);
    for (std::size_t v = 0; v < ranks; ++v) star.link(v, ranks, v == 0 ? 1 : 2);
    const Network network = star.build();
    const auto both = solver::parts_at_once(network, uniform_weights(network), in_turn(network));
    EXPECT_EQ(both.parts.has_value(), ranks == 16);
    if (ranks != 16) {
      EXPECT_TRUE(both.is_open);
    }
  }
}

// 10 × 10 without the first so many of three links.
Network damaged_torus(std::size_t lost = 3) {
  Network network = test::torus({10, 10});
  for (const auto& [a, b] : {std::pair{0, 1}, {37, 38}, {55, 65}}) {
    if (lost-- > 0) network = test::derated(network, NodeId(a), NodeId(b), 0);
  }
  return network;
}

// Links that are divided evenly leave what is alike nearly so, and trees are low: at a corner of
// the program they are two to five times as high as has to be.
TEST(AtOnceLongest, TreesOfDamagedFabricsAreLow) {
  struct Damaged {
    std::string name;
    Network network;
  };
  for (const Damaged& fabric :
       {Damaged{"torus", damaged_torus()},
        {"A100, slow links", test::one_percent_degraded(test::dgx_a100(12), 3)},
        {"H100, dead NICs", test::h100_rails_alone(10, 2, 1)}}) {
    const Synthesis synthesis = synthesized(fabric.network, {TreesPerRoot::Mode::power_of_two, 16});
    EXPECT_TRUE(synthesis.two_phases) << fabric.name;
    EXPECT_LE(synthesis.forest.broadcast->max_height(), synthesis.least_height + 2) << fabric.name;
    EXPECT_LE(synthesis.forest.reduce->max_height(), synthesis.least_height + 2) << fabric.name;
    EXPECT_GE(share(synthesis.forest.algbw, synthesis.forest.optimum), 0.985) << fabric.name;
    expect_sound(fabric.network, synthesis, fabric.name);
  }
}

// Of more ranks than divisions of the links are looked for, and of as many as they are.
TEST(AtOnceLongest, LargeDamagedClustersHaveLowTreesOfLinksThatAreShared) {
  for (const Network& network :
       {test::one_percent_degraded(test::dgx_a100(136), 1), test::h100_rails_alone(136, 12, 1)}) {
    for (const TreesPerRoot trees : {TreesPerRoot{TreesPerRoot::Mode::power_of_two, 16},
                                     TreesPerRoot{TreesPerRoot::Mode::fixed, 1}, TreesPerRoot{}}) {
      const Synthesis synthesis = synthesized(network, trees);
      EXPECT_TRUE(synthesis.two_phases);
      EXPECT_LE(height_of(synthesis), synthesis.least_height + 1);
      EXPECT_GE(share(synthesis.forest.algbw, synthesis.forest.optimum), 0.97);
      expect_sound(network, synthesis, "large");
    }
  }
}

// The even division loses next to nothing, and what trees reach on it is proved by cuts.
TEST(AtOnce, EvenDivisionsReachNearlyTheOptimum) {
  int found = 0;
  for (std::uint64_t seed = 700; seed < 760; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = 6, .max_switches = 3, .one_way = seed % 2 == 0});
    const auto both = solver::parts_at_once(network, uniform_weights(network), in_turn(network));
    if (!both.parts || !both.parts->even) continue;
    ++found;
    const solver::AllreduceDivision& even = *both.parts->even;
    EXPECT_LE(even.algbw, both.parts->upper) << "seed " << seed;
    // Each arc is divided between the phases, by their units.
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      const Arc& arc = network.graph.arcs()[a];
      const auto taken = [&](const Network& part, NodeId tail, NodeId head) {
        const ArcId at = part.graph.find(tail, head);
        return at.valid() ? part.unit * Ratio(part.capacity[at]) : Ratio(0);
      };
      const Network& reduce = even.reduce ? *even.reduce : even.broadcast;
      const double sum = taken(even.broadcast, arc.tail, arc.head).to_double() +
                         taken(reduce, arc.head, arc.tail).to_double();
      EXPECT_LE(sum, (network.unit * Ratio(network.capacity[ArcId(a)])).to_double() * (1 + 1e-12));
    }
  }
  EXPECT_GT(found, 10);
}

// The optimum itself leaves the links of a damaged torus no room, and trees are low all the same.
TEST(AtOnceLongest, OptimalTreesOfDamagedToriAreLow) {
  for (const std::size_t lost : {1, 2, 3}) {
    const Network network = damaged_torus(lost);
    const Synthesis synthesis = synthesized(network);
    EXPECT_TRUE(synthesis.two_phases) << lost;
    EXPECT_EQ(synthesis.forest.algbw, synthesis.forest.optimum) << lost;
    EXPECT_LE(height_of(synthesis), synthesis.least_height + 1) << lost;
    expect_sound(network, synthesis, "torus");
  }
}

// Nor those of damaged clusters, where roots have the shares that flat trees need.
TEST(AtOnceLongest, OptimalTreesOfDamagedClustersAreFlat) {
  for (const Network& network :
       {test::h100_rails_alone(10, 2, 1), test::h100_rails_alone(9, 1, 1)}) {
    const Synthesis synthesis = synthesized(network);
    EXPECT_TRUE(synthesis.two_phases);
    EXPECT_EQ(synthesis.forest.algbw, synthesis.forest.optimum);
    EXPECT_LE(height_of(synthesis), synthesis.least_height + 1);
    expect_sound(network, synthesis, "flat");
  }
}

// Without a limit on the height the program of low trees is asked, too: here no limit has lower
// trees at the same rate.
TEST(AtOnce, FewRanksAreAsLowAsALimitHasThem) {
  Network network = test::torus({3, 5});
  for (const auto& [a, b] : {std::pair{1, 2}, {7, 12}}) {
    network = test::derated(network, NodeId(a), NodeId(b), 0);
  }
  const Synthesis any = synthesized(network);
  EXPECT_EQ(any.forest.algbw, any.forest.optimum);
  expect_sound(network, any, "any height");
  for (std::int32_t height = any.least_height; height < height_of(any); ++height) {
    const auto low = synthesize(network, {.max_height = height});
    EXPECT_TRUE(!low || low->forest.algbw < any.forest.algbw) << height;
  }
}

TEST(AtOnce, OtherCollectivesAreNot) {
  const auto gather = synthesize(*to_digraph(test::bundled_topology("mixed-a100-h100")),
                                 {.collective = Collective::allgather});
  ASSERT_TRUE(gather);
  EXPECT_FALSE(gather->two_phases);
}

TEST(AtOnceLong, PreviousTreesAreKept) {
  const Network network = *to_digraph(test::bundled_topology("mixed-a100-h100"));
  const Synthesis before = synthesized(network);
  const auto after = synthesize(network, {.previous = &before.forest});
  ASSERT_TRUE(after) << to_string(after.errors().front());
  EXPECT_EQ(after->forest.algbw, Ratio(175));
  ASSERT_TRUE(after->repack);
  EXPECT_EQ(after->repack->kept, after->repack->previous);
  expect_sound(network, *after, "warm");
}

TEST(AtOnce, WhatIsStoppedIsAnAnswerAllTheSame) {
  const Network network = *to_digraph(test::bundled_topology("mixed-a100-h100"));
  std::stop_source stop;
  SynthesizeOptions options;
  options.answer_when_stopped = true;
  options.packing.stop = stop.get_token();
  options.packing.progress = [&](std::string_view stage, std::optional<double>) {
    if (stage == "packing") stop.request_stop();
  };
  const auto stopped = synthesize(network, options);
  ASSERT_TRUE(stopped) << to_string(stopped.errors().front());
  EXPECT_TRUE(stopped->stopped);
  expect_sound(network, *stopped, "stopped");
}

Weights weights(const std::vector<std::int64_t>& list) {
  Weights result;
  for (const std::int64_t weight : list) result.push_back(weight);
  return result;
}

TEST(AtOnce, SharesAreRoundedByLargestRemainders) {
  using solver::rounded_shares;
  EXPECT_EQ(rounded_shares(weights({1, 1, 1}), 4), weights({2, 1, 1}));
  EXPECT_EQ(rounded_shares(weights({5, 0, 3}), 8), weights({5, 0, 3}));
  EXPECT_EQ(rounded_shares(weights({10, 1, 7}), 4), weights({2, 0, 2}));
  const std::int64_t large = std::int64_t{1} << 61;
  EXPECT_EQ(rounded_shares(weights({large, large}), 3), weights({2, 1}));
  Weights shares = weights({6, 0, 4});
  EXPECT_EQ(solver::take_common_factor(shares), 2);
  EXPECT_EQ(shares, weights({3, 0, 2}));
}

// Two roots with shares of 2 and 1 reach the rate of higher trees at a height of 2.
TEST(AtOnce, RootsOfOtherSharesCanHaveLowerTrees) {
  FabricBuilder ring(4);
  ring.link(0, 1, 2);
  ring.link(1, 2, 7);
  ring.link(2, 3, 1);
  ring.link(3, 0, 4);
  const Synthesis made = synthesized(ring.build());
  EXPECT_EQ(made.forest.algbw, Ratio(3));
  EXPECT_LE(made.least_height, 2);
}

// By a linear program with a column for every tree of a height: none reaches the rate below the
// height that is said to be the least.
TEST(AtOnceLongest, NoAllreduceIsLowerThanIsSaid) {
  int tight = 0, compared = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 4,
                                                       .max_switches = 1,
                                                       .one_way = seed % 3 == 1,
                                                       .unbalanced = seed % 3 == 2});
    const Synthesis made = synthesized(network);
    const double rate = (made.forest.algbw / network.unit).to_double();
    if (made.least_height > 1) {
      const auto lower =
          best_by_all_trees(network, {}, static_cast<std::size_t>(made.least_height) - 1);
      if (!lower) continue;
      ++compared;
      EXPECT_LT(*lower, rate * (1 - 1e-9)) << "seed " << seed;
    }
    const std::int32_t height =
        std::max(made.forest.broadcast->max_height(), made.forest.reduce->max_height());
    EXPECT_LE(made.least_height, height) << "seed " << seed;
    tight += made.least_height == height ? 1 : 0;
  }
  EXPECT_GT(compared, 50);
  EXPECT_GT(tight, 50);
}

}  // namespace
}  // namespace forestcoll::testing
