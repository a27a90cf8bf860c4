// All-to-alls as plans of MSCCL++, judged by a checker that shares no code with what makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "forestcoll/compile.hpp"
#include "schedule/alltoall/alltoall_schedule.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"
#include "support/alltoall.hpp"
#include "support/fabrics.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Expected<Compilation> planned(const Fabric& fabric, std::int64_t k, bool in_place,
                              Format format = Format::mscclpp) {
  CompileOptions options = test::alltoall_as(format, k);
  if (in_place) options.lowering.placement = Placement::in_place;
  return compile(fabric, options);
}

class AlltoallPlans : public ::testing::TestWithParam<const char*> {};

// The paths are those of the XML, and so is the rate; in place a rank keeps all that it has for
// others in scratch, beside what it relays.
TEST_P(AlltoallPlans, AreRightInBothPlacesAndAsFastAsXml) {
  const Fabric fabric = test::bundled_fabric(GetParam());
  const auto n = static_cast<std::int64_t>(fabric.network.ranks.size());
  for (const std::int64_t k : {1, 2}) {
    const auto xml = planned(fabric, k, false, Format::msccl);
    const auto out = planned(fabric, k, false), in = planned(fabric, k, true);
    ASSERT_TRUE(xml && out && in) << GetParam();
    for (const auto* made : {&*out, &*in}) {
      ASSERT_TRUE(made->verdict.ok) << to_string(made->verdict.findings.front());
      EXPECT_EQ(made->verdict.format, "mscclpp-plan");
      EXPECT_EQ(made->verdict.collective_name, "alltoall");
      EXPECT_EQ(made->verdict.chunks, n * k);
      EXPECT_EQ(test::algbw_of(*made), test::algbw_of(*xml));
      EXPECT_EQ(made->paths->algbw_by_links, xml->paths->algbw_by_links);
    }
    EXPECT_EQ(in->paths->scratch, out->paths->scratch + (n - 1) * k);
  }
}

std::string fabric_of(const ::testing::TestParamInfo<const char*>& test) {
  std::string name = test.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Bundled, AlltoallPlans,
                         ::testing::Values("dgx-a100-x1", "dgx-a100-x2", "dgx-1-v100", "torus-4x4",
                                           "hypercube-16"),
                         fabric_of);
INSTANTIATE_TEST_SUITE_P(BundledLong, AlltoallPlans,
                         ::testing::Values("dgx-a100-x2-degraded", "mi250-x1", "fat-tree-4",
                                           "dgx-h100-x4-rail-2to1"),
                         fabric_of);

// A line of three: all that the ends have for each other is relayed through scratch of the middle.
Network line_of_three() {
  test::FabricBuilder b(3);
  b.link(0, 1, 1);
  b.link(1, 2, 1);
  return b.build();
}

ExecutionPlan plan_of_line(bool in_place, std::int32_t max_threadblocks = 108) {
  PlanOptions options;
  options.in_place = in_place;
  options.max_threadblocks = max_threadblocks;
  const Network network = line_of_three();
  const auto routes = route_alltoall(network, Demand::uniform(3), Ratio(1), {.k = 2});
  const auto plan = lower_paths_to_plan(
      *routes, network.rank_of, IdVector<Rank, std::int32_t>(3, 0), Demand::uniform(3), options);
  EXPECT_TRUE(plan);
  return *plan;
}

TEST(AlltoallPlan, RelaysThroughScratch) {
  const ExecutionPlan plan = plan_of_line(false);
  EXPECT_EQ(plan.collective, Collective::alltoall);
  EXPECT_EQ(plan.gpus[Rank(0)].scratch_chunks, 0);
  EXPECT_EQ(plan.gpus[Rank(1)].scratch_chunks, 4);  // two chunks either way
  EXPECT_EQ(plan.gpus[Rank(0)].input_chunks, 6);
  const auto verdict = verify(to_mscclpp_json(plan, "line"), "plan.json", nullptr, {});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok) << to_string(verdict->findings.front());
}

// One threadblock for each place in the blocks of neighbours, which are all the same distance apart
// where there are three; fewer where fewer are allowed.
TEST(AlltoallPlan, TakesTheThreadblocksThatItMay) {
  EXPECT_EQ(plan_of_line(false).gpus[Rank(0)].threadblocks.size(), 2U);
  const ExecutionPlan one = plan_of_line(true, 1);
  EXPECT_EQ(one.gpus[Rank(0)].threadblocks.size(), 1U);
  const auto verdict = verify(to_mscclpp_json(one, "line"), "plan.json", nullptr, {});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok) << to_string(verdict->findings.front());
}

// Where k is left open, a box of eight has more threadblocks than pairs equally far apart.
TEST(AlltoallPlan, HasEnoughThreadblocks) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x1");
  const auto made = compile(fabric, test::alltoall_as(Format::mscclpp));
  ASSERT_TRUE(made);
  ASSERT_TRUE(made->verdict.ok) << to_string(made->verdict.findings.front());
  EXPECT_EQ(made->paths->routes.k, 1);
  EXPECT_EQ(made->verdict.threadblocks, 64);
  EXPECT_EQ(made->verdict.chunks, 128);
  EXPECT_EQ(test::algbw_of(*made), test::optimum_of(*made));
}

// Between boxes a proxy sends: what lies in the caller's buffer has to begin its allocation, and
// what lies in scratch does not.
TEST(AlltoallPlan, InPlaceSendsFromScratch) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x2");
  const auto out = planned(fabric, 1, false), in = planned(fabric, 1, true);
  ASSERT_TRUE(out && in);
  EXPECT_THAT(out->verdict.conditions, Contains(HasSubstr("begin")));
  EXPECT_THAT(in->verdict.conditions, Not(Contains(HasSubstr("begin"))));
}

// A proxy serves 128 channels; each of 130 boxes of one GPU sends to all others.
TEST(AlltoallPlanLong, TooManyPeersAreRefused) {
  test::FabricBuilder b(130, 1);
  for (std::size_t r = 0; r < 130; ++r) b.link(r, 130, 1);
  const Network network = b.build();
  const auto routes =
      route_alltoall(network, Demand::uniform(130), Ratio(1, 129) * network.unit, {.k = 1});
  ASSERT_TRUE(routes);
  const auto plan = lower_paths_to_plan(
      *routes, network.rank_of, IdVector<Rank, std::int32_t>(130, -1), Demand::uniform(130), {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.errors().front().code, Code::T03);
  EXPECT_THAT(plan.errors().front().message, HasSubstr("129 port channels"));
  EXPECT_THAT(plan.errors().front().remedy, HasSubstr("`format=flows`"));
}

}  // namespace
}  // namespace forestcoll::testing
