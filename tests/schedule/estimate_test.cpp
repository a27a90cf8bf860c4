// The α–β model: what it says of small schedules by hand, and of merged threadblocks.
#include "forestcoll/estimate.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "emit/fabric.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/synthesize.hpp"
#include "schedule/forests.hpp"
#include "support/files.hpp"

namespace forestcoll::testing {
namespace {

const ProtocolModel plain{"Simple", 3.0, 1.0, 1.0, 10.0, 1e9};

double seconds_of(const Schedule& schedule, double algbw, double bytes,
                  const ProtocolModel& protocol = plain, const PairLatencies& latencies = {}) {
  return estimated_seconds(schedule, latencies, algbw, protocol, bytes);
}

TEST(Estimate, OneMessage) {
  const auto schedule = lower(shaped(Collective::broadcast, 2, 1, star), {});
  ASSERT_TRUE(schedule);
  // A step, a message, a step.
  EXPECT_NEAR(seconds_of(*schedule, 1000, 0), 5e-6, 1e-12);
  // Twice 10^6 bytes at 10 GB/s through the threadblocks.
  EXPECT_NEAR(seconds_of(*schedule, 1000, 1e6), 5e-6 + 2e-4, 1e-9);
  // Slow links: 10^6 bytes at 1 GB/s.
  EXPECT_NEAR(seconds_of(*schedule, 1, 1e6), 5e-6 + 1e-3, 1e-9);
  EXPECT_NEAR(seconds_of(*schedule, 1000, 0, plain, {{{Rank(0), Rank(1)}, 7.0}}), 12e-6, 1e-12);
}

TEST(Estimate, PassesFollowEachOther) {
  const auto schedule = lower(shaped(Collective::broadcast, 2, 1, star), {});
  ASSERT_TRUE(schedule);
  ProtocolModel small = plain;
  small.bytes_per_pass = 1e5;
  // Ten passes of 11 µs in the threadblocks; the first needs its way as well.
  EXPECT_NEAR(seconds_of(*schedule, 1000, 1e6, small), (5 + 20 + 9 * 11) * 1e-6, 1e-9);
}

TEST(Estimate, ChainsCostTheirLength) {
  const auto path_time = lower(shaped(Collective::broadcast, 9, 1, path), {});
  const auto star_time = lower(shaped(Collective::broadcast, 9, 1, star), {});
  ASSERT_TRUE(path_time && star_time);
  EXPECT_GT(seconds_of(*path_time, 100, 0), 6 * seconds_of(*star_time, 100, 0));
}

TEST(Estimate, LatenciesOfRoutes) {
  Topology topology = switched(3);
  for (auto& link : topology.links) link.latency = Ratio(1, 2);
  const auto roots = std::vector<ParentTree>{path(3, 0)};
  const Forest forest = make_forest(3, roots, 3);
  const auto broadcast = collective_of(Collective::broadcast, 1, forest, forest);
  const auto down = pair_latencies(broadcast, topology);
  ASSERT_EQ(down.size(), 2u);
  EXPECT_DOUBLE_EQ(down.at({Rank(0), Rank(1)}), 1.0);
  const auto up = pair_latencies(collective_of(Collective::reduce, 1, forest, forest), topology);
  EXPECT_TRUE(up.contains({Rank(1), Rank(0)}));
  EXPECT_FALSE(up.contains({Rank(0), Rank(1)}));
}

// As many threadblocks as fit are not much slower than one for each edge of each tree, by the
// model: on four A100 boxes the latter would be more than fit.
TEST(Estimate, FewerThreadblocksThanTreesHaveEdgesAreNotSlower) {
  for (const char* name : {"dgx-a100-x1", "dgx-a100-x2", "dgx-a100-x4", "mi250-x1", "dgx-1-v100"}) {
    const auto parsed = parse_topology(test::bundled_text(name), name);
    ASSERT_TRUE(parsed);
    const auto network = to_digraph(parsed->topology);
    ASSERT_TRUE(network);
    SynthesizeOptions asked;
    asked.trees_per_root = {TreesPerRoot::Mode::fixed, 1};
    const auto solved = synthesize(*network, asked);
    ASSERT_TRUE(solved);
    const auto latencies = pair_latencies(solved->forest, parsed->topology);
    LowerOptions per_tree{"msccl", 216};
    per_tree.threadblocks = ThreadblockUse::per_tree;
    const auto each = lower(solved->forest, per_tree);
    const auto ours = lower(solved->forest, {"azure", 108});
    ASSERT_TRUE(ours && each) << name;
    for (const double bytes : {65536.0, 1048576.0, 67108864.0, 1073741824.0}) {
      const double algbw = solved->forest.algbw.to_double();
      EXPECT_LE(seconds_of(*ours, algbw, bytes, protocol_models()[0], latencies),
                1.1 * seconds_of(*each, algbw, bytes, protocol_models()[0], latencies))
          << name << " " << bytes;
    }
  }
}

}  // namespace
}  // namespace forestcoll::testing
