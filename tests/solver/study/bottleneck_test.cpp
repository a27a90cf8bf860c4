// The cut that limits a collective: which links cross it, and what the words say.
#include "forestcoll/bottleneck.hpp"

#include <gtest/gtest.h>

#include <string>

#include "forestcoll/collective.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

Bottleneck bottleneck_of(const Topology& topology, CollectivePhase phase) {
  const Network network = *to_digraph(topology);
  if (phase == CollectivePhase::broadcast) {
    return find_bottleneck(network, *bound(network, Collective::allgather, {})->broadcast_rate,
                           phase);
  }
  return find_bottleneck(network, *bound(network, Collective::reduce_scatter, {})->reduce_rate,
                         phase);
}

TEST(Bottleneck, WordsNameGpusAndLinks) {
  const Topology topology = test::generated_topology("dgx-a100", {{"boxes", "2"}});
  const std::string links = "through 1 link of 300 GB/s and 1 link of 25 GB/s (325 GB/s)";
  EXPECT_EQ(in_words(bottleneck_of(topology, CollectivePhase::broadcast), topology),
            "all data for box0/gpu0 enters " + links);
  EXPECT_EQ(in_words(bottleneck_of(topology, CollectivePhase::reduce), topology),
            "all data of box0/gpu0 leaves " + links);
}

TEST(Bottleneck, WordsNameBoxes) {
  const Topology topology = test::generated_topology("dgx-a100", {{"boxes", "6"}});
  EXPECT_EQ(in_words(bottleneck_of(topology, CollectivePhase::broadcast), topology),
            "data of the 40 GPUs of 5 boxes (box1, box2, … box5) leaves through 8 links of 25 GB/s "
            "(200 GB/s)");
}

TEST(Bottleneck, LinksLeadFromTheSideThatSends) {
  const Topology topology = test::generated_topology("dgx-a100", {{"boxes", "2"}});
  for (const auto phase : {CollectivePhase::broadcast, CollectivePhase::reduce}) {
    const Bottleneck found = bottleneck_of(topology, phase);
    IdVector<NodeId, bool> sends(topology.nodes.size(), false);
    for (const NodeId node : found.sending) sends[node] = true;
    Ratio sum(0);
    for (const CrossingLink& link : found.links) {
      EXPECT_TRUE(sends[link.src] && !sends[link.dst]);
      sum = sum + link.bandwidth;
    }
    EXPECT_EQ(sum, found.exit_bandwidth);
    EXPECT_EQ(found.weight, 15);
    EXPECT_EQ(found.rate_per_root, found.exit_bandwidth / Ratio(found.weight));
    EXPECT_FALSE(found.switches_cost);
  }
}

TEST(Bottleneck, LargestLinksComeFirst) {
  const Topology topology = test::generated_topology("dgx-a100", {{"boxes", "2"}});
  const Bottleneck found = bottleneck_of(topology, CollectivePhase::broadcast);
  const auto largest = largest_links(found.links, 1);
  ASSERT_EQ(largest.size(), 1u);
  EXPECT_EQ(largest.front().bandwidth, Ratio(300));
  EXPECT_EQ(largest_links(found.links, 9).size(), 2u);
}

}  // namespace
}  // namespace forestcoll::testing
