// What programs put on links: by hand, and beside what the independent checker counts.
#include "solver/common/peer_loads.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

#include "audit/common/fabric_load.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::solver {
namespace {

// Two ranks behind two switches: 0 reaches both, one of them by a wider link.
Network two_ways(Capacity wide, Capacity narrow) {
  test::FabricBuilder fabric(2, 2);
  fabric.link(0, 2, wide);
  fabric.link(0, 3, narrow);
  fabric.link(2, 1, 4);
  fabric.link(3, 1, 4);
  return fabric.build();
}

TEST(PeerLoads, SendersTakeTheWidestOfTheirLinks) {
  const Network network = two_ways(2, 1);
  const auto loads = peer_loads(network, {{{Rank(0), Rank(1)}, 3}});
  ASSERT_TRUE(loads);
  EXPECT_EQ((*loads)[network.graph.find(NodeId(0), NodeId(2))], Ratio(3));
  EXPECT_EQ((*loads)[network.graph.find(NodeId(0), NodeId(3))], Ratio(0));
  EXPECT_EQ((*loads)[network.graph.find(NodeId(2), NodeId(1))], Ratio(3));
}

TEST(PeerLoads, EqualLinksShareAlike) {
  const Network network = two_ways(2, 2);
  const auto loads = peer_loads(network, {{{Rank(0), Rank(1)}, 3}});
  ASSERT_TRUE(loads);
  EXPECT_EQ((*loads)[network.graph.find(NodeId(0), NodeId(2))], Ratio(3, 2));
  EXPECT_EQ((*loads)[network.graph.find(NodeId(3), NodeId(1))], Ratio(3, 2));
}

TEST(PeerLoads, NoneWhereRanksAloneLeadOn) {
  test::FabricBuilder fabric(3);
  fabric.link(0, 1, 1);
  fabric.link(1, 2, 1);
  EXPECT_TRUE(peer_loads(fabric.build(), {{{Rank(0), Rank(1)}, 1}}));
  EXPECT_FALSE(peer_loads(fabric.build(), {{{Rank(0), Rank(2)}, 1}}));
}

TEST(PeerLoads, NoneBeyondExactArithmetic) {
  test::FabricBuilder fabric(3, 1);
  for (std::size_t rank = 0; rank < 3; ++rank) fabric.link(rank, 3, 1);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(
      peer_loads(fabric.build(), {{{Rank(0), Rank(1)}, most}, {{Rank(2), Rank(1)}, most}}));
}

TEST(PeerLoads, AsTheCheckerCountsThem) {
  std::mt19937_64 random(7);
  const auto below = [&](std::size_t most) { return static_cast<std::size_t>(random() % most); };
  int routed = 0;
  for (int trial = 0; trial < 200; ++trial) {
    constexpr std::size_t kRanks = 5, kSwitches = 4;
    test::FabricBuilder fabric(kRanks, kSwitches);
    for (int link = 0; link < 16; ++link) {
      const std::size_t a = below(kRanks + kSwitches), b = below(kRanks + kSwitches);
      if (a != b) fabric.link(a, b, 1 + static_cast<Capacity>(below(4)));
    }
    const Network network = fabric.build();
    PeerTransfers transfers;
    audit::Transfers checked;
    for (int t = 0; t < 6; ++t) {
      const std::size_t from = below(kRanks), to = below(kRanks);
      if (from == to) continue;
      const auto shares = static_cast<std::int64_t>(1 + below(9));
      transfers[{Rank(from), Rank(to)}] = shares;
      checked[{static_cast<std::int32_t>(from), static_cast<std::int32_t>(to)}] = shares;
    }
    audit::Findings findings("");
    const auto expected = audit::route_transfers(network, checked, findings);
    const auto loads = peer_loads(network, transfers);
    ASSERT_EQ(loads.has_value(), expected.has_value() && findings.count() == 0);
    if (!loads) continue;
    EXPECT_EQ(*loads, *expected);
    ++routed;
  }
  EXPECT_GT(routed, 50);
}

}  // namespace
}  // namespace forestcoll::solver
