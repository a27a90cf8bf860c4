// Scatters and gathers: the rate by all cuts, and flows and plans that reach it, in both
// placements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/alltoall/alltoall_schedule.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"
#include "support/alltoall.hpp"
#include "support/explain.hpp"
#include "support/fabrics.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;

constexpr Collective kBoth[] = {Collective::scatter, Collective::gather};

// With one source, or one sink, flows reach what the smallest cut allows: of all sets without the
// root, what enters (of a gather: leaves) for each GPU in it.
Ratio rate_by_all_cuts(const Network& network, Collective collective, NodeId root) {
  const std::size_t n = network.graph.node_count();
  Ratio least = 0;
  for (std::uint32_t set = 1; set < 1U << n; ++set) {
    const auto has = [&](NodeId v) { return (set >> v.index() & 1U) != 0; };
    std::int64_t gpus = 0;
    for (const NodeId v : network.ranks) gpus += has(v) ? 1 : 0;
    if (has(root) || gpus == 0) continue;
    std::int64_t capacity = 0;
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      const bool tail = has(network.graph.tail(ArcId(a))), head = has(network.graph.head(ArcId(a)));
      const bool crosses = collective == Collective::scatter ? !tail && head : tail && !head;
      if (crosses) capacity += network.capacity[ArcId(a)];
    }
    const Ratio rate = Ratio(capacity, gpus) * network.unit;
    if (least == Ratio(0) || rate < least) least = rate;
  }
  return least;
}

TEST(RootedPaths, TheOptimumIsThatOfTheSmallestCut) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    test::RandomOptions options;
    options.max_compute = 7;
    options.max_switches = 4;
    options.one_way = seed % 3 == 1;
    options.unbalanced = seed % 4 == 2;
    const Network network = test::random_fabric(seed, options);
    const std::size_t ranks = network.ranks.size();
    const Rank root(seed % ranks);
    for (const Collective collective : kBoth) {
      const Demand demand = demand_of(collective, ranks, root).demand;
      const auto optimum = alltoall_optimum(network, demand);
      ASSERT_TRUE(optimum) << seed;
      EXPECT_EQ(find_alltoall_flaw(network, demand, optimum->proof), "") << seed;
      EXPECT_TRUE(optimum->proof.is_exact()) << seed;
      EXPECT_EQ(optimum->proof.reached,
                rate_by_all_cuts(network, collective, network.ranks[root.index()]))
          << seed << to_string(collective);
    }
  }
}

class BundledRooted : public ::testing::TestWithParam<const char*> {};

// Each in flows and as a plan, from the first and from the last GPU; in place too. algbw is of the
// root's buffer, and no rank gets more than its links.
TEST_P(BundledRooted, FlowsAndPlansAreRight) {
  const Fabric fabric = test::bundled_fabric(GetParam());
  const std::size_t ranks = fabric.network.ranks.size();
  for (const Collective collective : kBoth) {
    for (const Rank root : {Rank(std::size_t{0}), Rank(ranks - 1)}) {
      for (const Format format : {Format::flows, Format::mscclpp}) {
        for (const Placement placement : {Placement::out_of_place, Placement::in_place}) {
          if (format == Format::flows && placement == Placement::in_place) continue;
          auto options = test::rooted_as(collective, root, format, 2);
          options.lowering.placement = placement;
          const auto made = compile(fabric, options);
          if (collective == Collective::scatter && placement == Placement::in_place &&
              root != Rank(0)) {
            ASSERT_FALSE(made);
            EXPECT_EQ(made.errors().front().code, Code::T06);
            continue;
          }
          ASSERT_TRUE(made) << to_string(made.errors().front());
          ASSERT_TRUE(made->verdict.ok) << to_string(made->verdict.findings.front());
          EXPECT_EQ(made->verdict.collective, collective);
          EXPECT_EQ(made->verdict.collective_name, to_string(collective));
          EXPECT_EQ(made->verdict.root, root);
          EXPECT_LE(test::algbw_of(*made), test::optimum_of(*made));
          EXPECT_GE(test::algbw_of(*made) * Ratio(2), test::optimum_of(*made));
        }
      }
    }
  }
}

// What an executor on a GPU did with such a plan: the data came out behind the outputs.
TEST(RootedPaths, AScatterInPlaceFromAnotherThanRank0IsFound) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x1");
  for (const Rank root : {Rank(0), Rank(3)}) {
    const auto made =
        compile(fabric, test::rooted_as(Collective::scatter, root, Format::mscclpp, 2));
    ASSERT_TRUE(made);
    std::string text = made->text;
    const std::string placement = "\"inplace\":false";
    ASSERT_NE(text.find(placement), std::string::npos);
    text.replace(text.find(placement), placement.size(), "\"inplace\":true");
    const auto verdict = verify(text, "plan.json", nullptr, {});
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->ok, root == Rank(0));
    if (root == Rank(0)) continue;
    EXPECT_THAT(to_string(verdict->findings.front()), HasSubstr("only rank 0 can be the root"));
  }
}

std::string without_dashes(const ::testing::TestParamInfo<const char*>& test) {
  std::string name = test.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Bundled, BundledRooted, ::testing::Values("dgx-a100-x1"), without_dashes);
INSTANTIATE_TEST_SUITE_P(BundledLong, BundledRooted,
                         ::testing::Values("torus-4x4", "dgx-a100-x2", "dgx-1-v100", "mi250-x1",
                                           "fat-tree-4"),
                         without_dashes);

// Known by hand: the NVLinks of an A100 are 300 GB/s, and seven of eight parts leave the root.
TEST(RootedPaths, OneBoxIsAsFastAsTheRootsLinks) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x1");
  for (const Collective collective : kBoth) {
    const auto made = compile(fabric, test::rooted_as(collective, Rank(3), Format::mscclpp, 1));
    ASSERT_TRUE(made);
    EXPECT_EQ(test::algbw_of(*made), Ratio(2400, 7));
    EXPECT_EQ(test::optimum_of(*made), Ratio(2400, 7));
  }
}

// 0 - 1 - 2: what is for the end is relayed through scratch of the middle, and nobody else has any.
ExecutionPlan rooted_plan_of_line(Collective collective, bool in_place) {
  test::FabricBuilder b(3);
  b.link(0, 1, 1);
  b.link(1, 2, 1);
  const Network network = b.build();
  const Demand demand = demand_of(collective, 3, Rank(std::size_t{0})).demand;
  const auto routes = route_alltoall(network, demand, Ratio(1, 2), {.k = 2});
  EXPECT_TRUE(routes);
  PlanOptions options;
  options.in_place = in_place;
  const auto plan = lower_paths_to_plan(*routes, network.rank_of,
                                        IdVector<Rank, std::int32_t>(3, 0), demand, options);
  EXPECT_TRUE(plan);
  return *plan;
}

std::string rooted_findings_of(const ExecutionPlan& plan) {
  const auto verdict = verify(to_mscclpp_json(plan, "line"), "plan.json", nullptr, {});
  EXPECT_TRUE(verdict);
  return test::explain(*verdict);
}

TEST(RootedPlan, BuffersAreThoseOfTheCollective) {
  for (const bool in_place : {false, true}) {
    const ExecutionPlan scatter = rooted_plan_of_line(Collective::scatter, in_place);
    const ExecutionPlan gather = rooted_plan_of_line(Collective::gather, in_place);
    EXPECT_EQ(rooted_findings_of(scatter), "");
    EXPECT_EQ(rooted_findings_of(gather), "");
    for (const Rank r : {Rank(0), Rank(1), Rank(2)}) {
      EXPECT_EQ(scatter.gpus[r].input_chunks, 6);
      EXPECT_EQ(scatter.gpus[r].output_chunks, 2);
      EXPECT_EQ(gather.gpus[r].input_chunks, 2);
      EXPECT_EQ(gather.gpus[r].output_chunks, 6);
      EXPECT_EQ(scatter.gpus[r].scratch_chunks, r == Rank(1) ? 2 : 0);
      EXPECT_EQ(gather.gpus[r].scratch_chunks, r == Rank(1) ? 2 : 0);
    }
  }
}

// Every place of a plan that data is taken from, one chunk further: some rank's data is wrong.
TEST(RootedPlan, EveryDisplacedChunkIsFound) {
  for (const Collective collective : kBoth) {
    const ExecutionPlan right = rooted_plan_of_line(collective, false);
    int changed = 0;
    for (const Rank r : {Rank(0), Rank(1), Rank(2)}) {
      for (std::size_t t = 0; t < right.gpus[r].threadblocks.size(); ++t) {
        for (std::size_t i = 0; i < right.gpus[r].threadblocks[t].loop.size(); ++i) {
          ExecutionPlan wrong = right;
          PlanOperation& operation = wrong.gpus[r].threadblocks[t].loop[i];
          if (operation.sources.empty() || operation.sources[0].buffer != Buffer::input) continue;
          operation.sources[0].index ^= 1;
          ++changed;
          EXPECT_NE(rooted_findings_of(wrong), "")
              << to_string(collective) << r.value << " " << t << i;
        }
      }
    }
    EXPECT_GE(changed, 3);
  }
}

TEST(RootedPaths, HaveNoXmlAndNoTrees) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x1");
  for (const Collective collective : kBoth) {
    const auto refusal = [&](Format format) {
      const auto made = compile(fabric, test::rooted_as(collective, Rank(1), format));
      return made ? std::string("made") : to_string(made.errors().front());
    };
    EXPECT_THAT(refusal(Format::msccl), HasSubstr("T06"));
    EXPECT_THAT(refusal(Format::forest), HasSubstr("S04"));
  }
}

}  // namespace
}  // namespace forestcoll::testing
