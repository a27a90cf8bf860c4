// All-to-alls and allgathers of direct sends, against each other by size.
#include <gmock/gmock.h>

#include <algorithm>

#include "fastest/contest.hpp"
#include "fastest/fabrics.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/alltoall/alltoall_schedule.hpp"
#include "schedule/run.hpp"
#include "support/alltoall.hpp"

namespace forestcoll {
namespace {

using fastest::Contest;

FastestOptions alltoall_of(std::vector<std::int64_t> sizes) {
  FastestOptions options;
  options.compile = test::alltoall_as(Format::msccl);
  options.sizes = std::move(sizes);
  return options;
}

const std::vector<std::int64_t>& alltoall_sizes() {
  static const std::vector<std::int64_t> sizes = {4096, 1 << 18, 1 << 24};
  return sizes;
}

// The oracle simulates everything.
TEST(FastestAlltoallLongest, IsTheFastestOfAll) {
  for (const char* name : {"dgx-a100-x1", "hypercube-16", "mi250-x1"}) {
    const Fabric fabric = test::bundled_fabric(name);
    auto contest = Contest::hold(fabric, alltoall_of(alltoall_sizes()));
    ASSERT_TRUE(contest) << to_string(contest.errors().front());
    const auto winners = contest->winners();
    (void)contest->all_programs();
    for (std::size_t i = 0; i < alltoall_sizes().size(); ++i) {
      const std::int64_t size = alltoall_sizes()[i];
      ASSERT_TRUE(winners[i]) << name;
      double best = 1;
      for (std::size_t c = 0; c < contest->contenders().size(); ++c) {
        if (!contest->is_there(c) || !contest->serves(c, size)) continue;
        const double seconds = *contest->seconds(c, size);
        EXPECT_LE(contest->least_seconds(c, size), seconds);
        best = std::min(best, seconds);
      }
      EXPECT_LE(winners[i]->seconds, Contest::kWorthwhile * best) << name;
    }
  }
}

// In four instances these have more steps on 72 GPUs than a program may have.
TEST(FastestAlltoallLong, TakesFewerInstancesWhereMoreAreTooLong) {
  const auto document = generate("dgx-h100", {{"boxes", "9"}});
  ASSERT_TRUE(document);
  const Fabric fabric = test::fabric_of(to_topology_json(*document));
  FastestOptions options = alltoall_of({72 << 20});
  options.algorithms = {"nccl-pxn", "hierarchical"};
  options.few_variants = true;
  auto contest = Contest::hold(fabric, options);
  ASSERT_TRUE(contest) << to_string(contest.errors().front());
  EXPECT_THAT(contest->algorithms(), ::testing::UnorderedElementsAre("nccl-pxn", "hierarchical"));
  EXPECT_LT(contest->all_programs().back()->instances, 4);
}

TEST(FastestAlltoallLong, IsWrittenAsChosen) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x2");
  for (const std::int64_t size : alltoall_sizes()) {
    const auto made = fastest_schedule(fabric, alltoall_of({size}));
    ASSERT_TRUE(made) << to_string(made.errors().front());
    EXPECT_TRUE(made->compilation.verdict.ok);
    EXPECT_EQ(made->compilation.verdict.collective_name, "alltoall");
    EXPECT_EQ(made->compilation.verdict.protocol, made->choice.protocol);
    EXPECT_EQ(made->compilation.verdict.chunks, made->choice.chunks);
    EXPECT_EQ(made->compilation.options.lowering.instances, made->choice.instances);
    EXPECT_GT(made->compilation.paths->proof.at_most, Ratio(0));
    EXPECT_GE(made->choice.seconds, made->choice.least.seconds);
    const auto simulator = prepare_simulation(made->compilation.text, "made", fabric.topology);
    ASSERT_TRUE(simulator);
    const auto run = simulator->run({size}, *find_simulation_parameters("a100"), {});
    ASSERT_TRUE(run);
    EXPECT_NEAR(run->times.front().seconds, made->choice.seconds, 1e-12) << size;
  }
}

TEST(FastestAlltoall, OfNamedAlgorithmsOnly) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x2");
  auto options = alltoall_of({4096});
  options.algorithms = {"bruck"};
  const auto made = fastest_choices(fabric, options);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->front().algorithm, "bruck");
  options.algorithms = {"nccl-ring"};
  const auto none = fastest_choices(fabric, options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.errors().front().code, Code::B10);
}

// Everybody's own goes to everybody, in threadblocks of one direction and of both.
TEST(DirectAllgather, IsRightInAllWays) {
  for (std::size_t ranks = 2; ranks <= 9; ++ranks) {
    for (const Placement placement : {Placement::in_place, Placement::out_of_place}) {
      for (const auto use : {ThreadblockUse::spread, ThreadblockUse::merge}) {
        LowerOptions options;
        options.instances = static_cast<std::int32_t>(1 + ranks % 3);
        options.placement = placement;
        options.threadblocks = use;
        const auto schedule = lower_direct_allgather(ranks, options);
        ASSERT_TRUE(schedule) << to_string(schedule.errors().front());
        EXPECT_EQ(testing::run_in_many_ways(*schedule, 3), "") << ranks;
        CollectiveForest head;
        const Fabric fabric = test::star_of(ranks);
        const auto verdict = verify(to_msccl_xml(*schedule, head, fabric.topology, {}), "direct",
                                    &fabric.topology, {});
        ASSERT_TRUE(verdict);
        EXPECT_TRUE(verdict->ok) << to_string(verdict->findings.front());
        EXPECT_TRUE(verdict->free_at_one_in_flight);
        const auto n = static_cast<std::int64_t>(ranks);
        EXPECT_EQ(verdict->algbw, Ratio(300 * n, n - 1));
      }
    }
  }
  LowerOptions both;
  both.placement = Placement::both;
  const auto refused = lower_direct_allgather(4, both);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors().front().code, Code::T06);
}

}  // namespace
}  // namespace forestcoll
