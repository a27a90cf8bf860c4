// The literature's algorithms where their rates have a closed form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "baseline/baseline_testing.hpp"
#include "baseline/trees/balance_parts.hpp"
#include "baseline/trees/free_links.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

using test::bundled;
using test::make;
using ::testing::HasSubstr;

// In step i a rank sends 2^i of 16 blocks over one link: the last one is the busiest, with 8.
TEST(HalvingDoubling, OnAHypercubeIsBoundByItsLastStep) {
  const auto result = make("halving-doubling", bundled("hypercube-16"));
  EXPECT_EQ(result.algbw, Ratio(2));
  ASSERT_TRUE(result.forest);
  EXPECT_EQ(result.forest->broadcast->max_height(), 4);
}

// Each GPU gets all blocks but its own over its link to the switch, and sends as many.
TEST(Exchange, BehindOneSwitchIsOptimal) {
  for (const char* name : {"halving-doubling", "bruck", "ring", "greedy"}) {
    EXPECT_EQ(make(name, bundled("dgx-a100-x1")).algbw, Ratio(2400, 7)) << name;
    EXPECT_EQ(make(name, bundled("dgx-a100-x1"), Collective::allreduce).algbw, Ratio(1200, 7))
        << name;
  }
}

TEST(Bruck, ServesAnyNumber) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const auto fabric = test::star(ranks);
    const auto result = make("bruck", fabric);
    EXPECT_EQ(result.algbw, Ratio(ranks, ranks - 1)) << ranks;
    // The block of the rank d further on comes in as many hops as d has ones.
    int height = 0;
    for (unsigned d = 1; d < static_cast<unsigned>(ranks); ++d) {
      height = std::max(height, std::popcount(d));
    }
    EXPECT_EQ(result.forest->broadcast->max_height(), height) << ranks;
  }
}

// From the end of a row to the start of the next are two links, with a rank between them, that no
// other hop needs.
TEST(NaiveRing, OnATorusIsRelayed) {
  const auto result = make("ring", bundled("torus-4x4"));
  EXPECT_FALSE(result.forest);
  EXPECT_THAT(result.note, HasSubstr("relayed by GPUs"));
  EXPECT_EQ(result.algbw, Ratio(16, 15));
}

// Of exchanges the same is an error where trees are wanted; where there are trees nothing changes.
TEST(Baselines, SayAtOnceWhereNoTreesDescribeThem) {
  BaselineOptions with_trees;
  with_trees.with_trees = true;
  for (const char* name : {"two-shot", "bruck", "pat", "swing", "ring", "double-tree"}) {
    for (const char* fabric : {"torus-4x4", "dgx-a100-x2"}) {
      const test::TestFabric on = bundled(fabric);
      const auto made = make_baseline(name, on.topology, on.network, Collective::allreduce, {}, {});
      const auto asked =
          make_baseline(name, on.topology, on.network, Collective::allreduce, {}, with_trees);
      ASSERT_TRUE(made) << name;
      EXPECT_EQ(asked.has_value(), made->forest.has_value()) << name << " " << fabric;
      if (asked) {
        EXPECT_EQ(asked->algbw, made->algbw);
      } else {
        EXPECT_EQ(asked.errors().front().code, Code::B10);
      }
    }
  }
}

TEST(NaiveRing, OnARingIsTheRing) {
  const auto result = make("ring", test::generated("ring", {{"nodes", "6"}}));
  EXPECT_EQ(result.algbw, Ratio(6, 5));
  EXPECT_EQ(result.rings, 1);
  EXPECT_EQ(result.forest->broadcast->max_height(), 5);
}

// By symmetry every shortest path carries the same share, so all links are equally busy.
TEST(Bfb, IsOptimalOnAHypercube) {
  const auto result = make("bfb", bundled("hypercube-16"));
  EXPECT_EQ(result.algbw, Ratio(64, 15));
  EXPECT_EQ(result.forest->broadcast->max_height(), 4);
}

TEST(Bfb, OnARingGoesBothWays) {
  const auto result = make("bfb", test::generated("ring", {{"nodes", "8"}}));
  // Seven blocks come in over two links; the one from across, by halves.
  EXPECT_EQ(result.algbw, Ratio(16, 7));
  EXPECT_EQ(result.forest->k, 2);
}

TEST(MultiTree, IsOptimalOnATorusAndARing) {
  EXPECT_EQ(make("multitree", test::generated("ring", {{"nodes", "7"}})).algbw, Ratio(7, 3));
  EXPECT_EQ(make("multitree", bundled("dgx-a100-x1")).algbw, Ratio(2400, 7));
}

// A message uses up every link of its path until the next time step.
TEST(FreeLinks, AreUsedUpAlongTheWholeWay) {
  const auto fabric = test::star(4);
  baseline::FreeLinks links(fabric.network);
  const auto to = [](int wanted) { return [wanted](Rank rank) { return rank == Rank(wanted); }; };
  const auto any = [](Rank) { return true; };
  EXPECT_EQ(links.take_nearest(Rank(0), false, to(1)).size(), 3U);
  EXPECT_TRUE(links.take_nearest(Rank(0), false, any).empty());
  EXPECT_TRUE(links.take_nearest(Rank(1), true, any).empty());
  EXPECT_TRUE(links.take_nearest(Rank(2), false, to(1)).empty());
  const auto path = links.take_nearest(Rank(0), true, to(3));
  ASSERT_EQ(path.size(), 3U);
  EXPECT_EQ(path.front(), fabric.network.ranks[3]);
  EXPECT_EQ(path.back(), fabric.network.ranks[0]);
  links.next_step();
  EXPECT_FALSE(links.take_nearest(Rank(0), false, any).empty());
}

// A link that is twice as fast as the slowest carries two in a time step.
TEST(FreeLinks, CarryByTheirWidth) {
  const auto fabric = bundled("dgx-1-v100");
  baseline::FreeLinks links(fabric.network);
  const auto to_three = [](Rank rank) { return rank == Rank(3); };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(links.take_nearest(Rank(0), false, to_three).empty(), i == 2) << i;
  }
}

// A fat tree joins any pairs at full speed, if equal paths share the load.
TEST(Paths, AreSpreadOverAFatTree) {
  EXPECT_EQ(make("nccl-ring", bundled("fat-tree-4")).algbw, Ratio(80, 3));
  EXPECT_EQ(make("halving-doubling", bundled("fat-tree-4")).algbw, Ratio(80, 3));
}

// Rail c carries what the other boxes' ranks of rail c own; NVLink all but that.
TEST(Hierarchical, OnDgxA100) {
  EXPECT_EQ(make("hierarchical", bundled("dgx-a100-x2")).algbw, Ratio(2400, 7));
  EXPECT_EQ(make("hierarchical", bundled("dgx-a100-x4")).algbw, Ratio(800, 3));
  const auto result = make("hierarchical", bundled("dgx-a100-x4"));
  EXPECT_EQ(result.forest->broadcast->max_height(), 3 + 7);
}

// 2,400 ranks, 8 rings: 46 million tree edges.
// With the farthest first, who is d further on than the root has it from who is nearer by the
// lowest one of d in binary: along the rail, and then round the box or from who came first there.
TEST(TwoLevels, PatIsBinomialInEach) {
  constexpr std::size_t kSize = 8;
  for (const std::size_t boxes : {2U, 3U, 5U, 8U}) {
    const auto fabric = test::with_boxes("dgx-a100-x2", static_cast<int>(boxes));
    for (const bool is_direct : {true, false}) {
      const char* const name = is_direct ? "rail-pat" : "two-level-pat";
      const auto made = make(name, fabric);
      // In through a NIC all of its rail but its own; in from the box what its peers got.
      const Ratio rail(25 * kSize * boxes, boxes - 1), inside(300 * kSize, kSize - 1);
      EXPECT_EQ(made.algbw, std::min(rail, inside)) << name << boxes;
      ASSERT_TRUE(made.forest);
      const Forest& forest = *made.forest->broadcast;
      ASSERT_EQ(forest.tree_count(), boxes * kSize);
      for (std::size_t root = 0; root < forest.tree_count(); ++root) {
        for (std::size_t v = 0; v < forest.rank_count(); ++v) {
          const std::size_t box = (v / kSize + boxes - root / kSize) % boxes;
          const std::size_t place = (v + kSize - root) % kSize;
          if (v == root) continue;
          const std::size_t near_box = place > 0 ? box : box & (box - 1);
          const std::size_t near_place = is_direct || place == 0 ? 0 : place & (place - 1);
          const std::size_t parent =
              (root / kSize + near_box) % boxes * kSize + (root % kSize + near_place) % kSize;
          ASSERT_EQ(forest.parent(TreeId(root), Rank(v)), Rank(parent)) << name << root << " " << v;
        }
      }
    }
  }
}

// Where boxes are of different sizes, too, all trees span.
TEST(TwoLevels, PatServesUnequalBoxes) {
  const auto fabric =
      test::only_ranks(test::generated("dgx-h100", {{"boxes", "3"}, {"fabric", "single"}}),
                       "box0,box1/gpu[0-4],box2/gpu[2-3]");
  for (const char* name : {"rail-pat", "two-level-pat"}) {
    for (const Collective collective : {Collective::allgather, Collective::allreduce}) {
      auto made = make(name, fabric, collective);
      ASSERT_TRUE(made.forest) << name;
      made.forest->optimum = made.algbw;
      const auto verdict =
          verify(to_forest_json(*made.forest, fabric.topology), "f.json", &fabric.topology, {});
      ASSERT_TRUE(verdict);
      EXPECT_TRUE(verdict->findings.empty()) << to_string(verdict->findings.front());
    }
  }
}

TEST(TwoLevels, NeedSeveralBoxes) {
  for (const char* name :
       {"two-level", "rail-pat", "two-level-pat", "double-tree-direct", "double-tree-binomial"}) {
    const auto made = test::try_make(name, bundled("dgx-a100-x1"), Collective::allreduce);
    EXPECT_EQ(test::code_of(made), Code::B02) << name;
  }
}

TEST(SizeLong, RatesNeedNoForest) {
  const auto result = make("nccl-ring", test::with_boxes("dgx-a100-x2", 300));
  EXPECT_EQ(result.algbw, Ratio(2400, 2399) * Ratio(200));
  EXPECT_EQ(result.rings, 8);
  EXPECT_FALSE(result.forest);
  EXPECT_THAT(result.note, HasSubstr("more than 33 million tree edges"));
}

// The least largest load / width over all spreads of whole parts, by trying them.
Ratio least_load(const std::vector<baseline::Job>& jobs, const std::vector<std::int64_t>& width,
                 std::int64_t k, std::size_t job, std::size_t option, std::int64_t left,
                 std::vector<std::int64_t>& load) {
  if (job == jobs.size()) {
    Ratio worst = 0;
    for (std::size_t i = 0; i < load.size(); ++i) worst = std::max(worst, Ratio(load[i], width[i]));
    return worst;
  }
  const auto& options = jobs[job].options;
  if (option + 1 == options.size()) {
    load[options[option]] += left;
    const Ratio found = least_load(jobs, width, k, job + 1, 0, k, load);
    load[options[option]] -= left;
    return found;
  }
  std::optional<Ratio> best;
  for (std::int64_t parts = 0; parts <= left; ++parts) {
    load[options[option]] += parts;
    const Ratio found = least_load(jobs, width, k, job, option + 1, left - parts, load);
    load[options[option]] -= parts;
    if (!best || found < *best) best = found;
  }
  return *best;
}

TEST(BalanceParts, FindsTheLeastLargestLoad) {
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t links = 1 + below(4);
    std::vector<std::int64_t> width;
    for (std::size_t i = 0; i < links; ++i)
      width.push_back(1 + static_cast<std::int64_t>(below(4)));
    std::vector<baseline::Job> jobs(1 + below(4));
    for (auto& job : jobs) {
      for (std::size_t i = 0; i < links; ++i) {
        if (below(2) == 0) job.options.push_back(i);
      }
      if (job.options.empty()) job.options.push_back(below(links));
    }
    const std::int64_t k = 1 + static_cast<std::int64_t>(below(3));
    std::vector<std::int64_t> load(links, 0);
    const Ratio least = least_load(jobs, width, k, 0, 0, k, load);
    baseline::balance_parts(jobs, width, k);
    for (const auto& job : jobs) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < job.options.size(); ++i) {
        ASSERT_GE(job.parts[i], 0);
        sum += job.parts[i];
        load[job.options[i]] += job.parts[i];
      }
      ASSERT_EQ(sum, k);
    }
    Ratio worst = 0;
    for (std::size_t i = 0; i < links; ++i) worst = std::max(worst, Ratio(load[i], width[i]));
    ASSERT_EQ(worst, least) << trial;
  }
}

}  // namespace
}  // namespace forestcoll
