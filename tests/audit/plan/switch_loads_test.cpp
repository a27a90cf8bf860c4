// What plans with switch channels load links with, and how long they take.
#include <gmock/gmock.h>

#include <vector>

#include "audit/plan/plan_checking.hpp"
#include "audit/plan/shared_builders.hpp"
#include "forestcoll/verify.hpp"
#include "simulate/simulate_testing.hpp"

namespace audit_test {
namespace {

using ::testing::HasSubstr;

// All GPUs on switches that can do what they are said to.
Topology capable(int gpus, bool echo = true, std::vector<Ratio> gbs = {10}, bool multicast = true,
                 bool reduce = true) {
  std::vector<Cable> cables;
  for (std::size_t s = 0; s < gbs.size(); ++s) {
    for (int g = 0; g < gpus; ++g) cables.push_back({g, gpus + static_cast<int>(s), gbs[s]});
  }
  Topology topology = fabric(gpus, static_cast<int>(gbs.size()), cables);
  for (std::size_t v = 0; v < topology.nodes.size(); ++v) {
    auto& node = topology.nodes[NodeId(v)];
    if (node.type != NodeType::switch_node) continue;
    node.multicast = multicast;
    node.reduce = reduce;
    node.echo = echo;
  }
  return topology;
}

forestcoll::Verdict judge(const PlanJson& plan, const Topology& topology) {
  return *forestcoll::verify(plan.dump(), "plan.json", &topology, {});
}

// C·N/(N+1): a GPU's link brings up its part of every share, and the sum that it stores.
TEST(SwitchLoads, AnAllreduceOfSharesEchoes) {
  for (const int n : {2, 3, 8}) {
    const auto verdict = judge(switch_allreduce(n), capable(n));
    ASSERT_TRUE(verdict.ok) << explain(verdict);
    EXPECT_EQ(*verdict.algbw, Ratio(10 * n, n + 1)) << n;
    EXPECT_EQ(*judge(switch_allreduce(n), capable(n, false)).algbw, Ratio(10)) << n;
  }
}

// A GPU sends its own part once, and takes in those of all, its own too where that comes back.
TEST(SwitchLoads, AnAllgatherIsSentOnce) {
  for (const int n : {2, 5}) {
    const auto verdict = judge(switch_allgather(n), capable(n));
    ASSERT_TRUE(verdict.ok) << explain(verdict);
    EXPECT_EQ(*verdict.algbw, Ratio(10));
    EXPECT_EQ(verdict.busiest->load, Ratio(1));
    EXPECT_EQ(*judge(switch_allgather(n), capable(n, false)).algbw, Ratio(10 * n, n - 1));
    for (const auto& link : verdict.loads) {
      if (link.dst == "s0") {
        EXPECT_EQ(link.load, Ratio(1, n)) << link.src;
      }
    }
  }
}

TEST(SwitchLoads, SeveralSwitchesShareByWidth) {
  const auto verdict = judge(switch_allreduce(4), capable(4, true, {10, 5}));
  ASSERT_TRUE(verdict.ok) << explain(verdict);
  EXPECT_EQ(*verdict.algbw, Ratio(12));  // 15 · 4/5
}

TEST(SwitchLoads, ASwitchHasToBeAble) {
  for (const auto& [multicast, reduce] : {std::pair(false, true), std::pair(true, false)}) {
    const auto verdict = judge(switch_allreduce(3), capable(3, true, {10}, multicast, reduce));
    EXPECT_TRUE(finds(verdict, Code::V20, "none of the topology that is linked to them can"));
  }
  EXPECT_TRUE(
      finds(judge(switch_allreduce(3), star_fabric(3)), Code::V20, "reads the sum of 3 ranks"));
  EXPECT_TRUE(judge(switch_allgather(3), capable(3, true, {10}, true, false)).ok);
}

double algbw(const PlanJson& plan, const Topology& topology, const SimulationParameters& figures) {
  const auto simulator = forestcoll::prepare_simulation(plan.dump(), "plan.json", topology);
  if (!simulator) {
    ADD_FAILURE() << to_string(simulator.errors().front());
    return 0;
  }
  const std::vector<std::int64_t> sizes = {std::int64_t{1} << 32};
  return simulator->run(sizes, figures, {})->times.front().algbw;
}

TEST(SwitchTimes, LargeMessagesReachWhatTheLinksAllow) {
  const SimulationParameters ideal;
  EXPECT_NEAR(algbw(switch_allreduce(8), capable(8), ideal), 80.0 / 9, 1e-3);
  EXPECT_NEAR(algbw(switch_allgather(8), capable(8), ideal), 10, 1e-3);
  EXPECT_NEAR(algbw(switch_allreduce(4), capable(4, true, {10, 5}), ideal), 12, 1e-3);
}

// As measured: nccl-tests has 475 to 480 GB/s busbw on the eight GPUs of a DGX H100.
TEST(SwitchTimes, AnH100BoxIsAsFastAsMeasured) {
  const auto figures = *forestcoll::find_simulation_parameters("h100");
  SimulationParameters wide = figures;  // one threadblock in this plan does what several do
  wide.simple.threadblock_gbs = std::numeric_limits<double>::infinity();
  const double busbw = algbw(switch_allreduce(8), capable(8, true, {450}), wide) * 2 * 7 / 8;
  EXPECT_GT(busbw, 470);
  EXPECT_LT(busbw, 480);
}

TEST(SwitchTimes, ASwitchHasToBeAble) {
  const auto refused =
      forestcoll::prepare_simulation(switch_allreduce(3).dump(), "plan.json", star_fabric(3));
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.errors().front()), HasSubstr("[M04]"));
}

}  // namespace
}  // namespace audit_test
