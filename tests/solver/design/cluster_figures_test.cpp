// Clusters' figures against every single failure, tried one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "forestcoll/design.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::testing {
namespace {

Ratio algbw_of(const Topology& topology) {
  const auto network = to_digraph(topology);
  EXPECT_TRUE(network);
  const Ratio inverse = tree_rate(*network, uniform_weights(*network)).inverse;
  return network->unit / inverse * Ratio(static_cast<std::int64_t>(network->ranks.size()));
}

// Allgather after the worst failure of a switch outside of boxes; 0 where one cuts GPUs off.
Ratio after_worst_failure(const Topology& topology) {
  Ratio worst = algbw_of(topology);
  for (const TopologyNode& node : topology.nodes) {
    if (node.type != NodeType::switch_node || node.id.find('/') != std::string::npos) continue;
    const auto left = degrade(topology, {.drop = {node.id}});
    if (!left) return 0;
    worst = std::min(worst, algbw_of(left->topology));
  }
  return worst;
}

// One shape of every layout and number of levels; 5 and 7 boxes do not divide evenly.
std::vector<ClusterShape> few_shapes() {
  std::vector<ClusterShape> few;
  for (const std::size_t boxes : {4, 5, 7}) {
    std::set<std::string> met;
    for (const ClusterPorts ports : {ClusterPorts{4, 4}, {4, 8}, {16, 16}, {32, 32}}) {
      for (const ClusterShape& shape : cluster_shapes("dgx-h100", boxes, ports)) {
        const auto kind = std::string(to_string(shape.layout)) + std::to_string(shape.levels);
        if (met.insert(kind).second) few.push_back(shape);
      }
    }
  }
  return few;
}

TEST(ClusterFiguresLong, TheDearestFailureIsTheWorstOfAll) {
  std::set<std::string> kinds;
  for (const ClusterShape& shape : few_shapes()) {
    kinds.insert(std::string(to_string(shape.layout)) + std::to_string(shape.levels));
    const auto parsed = parse_topology(to_topology_json(to_document(shape)), "cluster");
    ASSERT_TRUE(parsed) << in_words(shape);
    const auto figures = cluster_figures(shape);
    ASSERT_TRUE(figures) << in_words(shape);
    EXPECT_EQ(figures->allgather, algbw_of(parsed->topology)) << in_words(shape);
    EXPECT_EQ(figures->after_failure, after_worst_failure(parsed->topology)) << in_words(shape);
    EXPECT_EQ(figures->allreduce, figures->allgather / Ratio(2)) << in_words(shape);
    EXPECT_LE(figures->alltoall.least, figures->alltoall.most) << in_words(shape);
  }
  EXPECT_GE(kinds.size(), 6U);
}

// Boxes whose links share capacities: of 16 GPUs each receives 15 shares at 300 + 32 GB/s.
TEST(ClusterFigures, KnowCapacitiesThatLinksShare) {
  const auto shapes = cluster_shapes("dgx-a100-pcie", 2, {16, 16});
  ASSERT_FALSE(shapes.empty());
  const auto figures = cluster_figures(shapes.front());
  ASSERT_TRUE(figures) << in_words(shapes.front());
  EXPECT_EQ(figures->allgather, Ratio(16 * 332, 15));
  EXPECT_EQ(figures->allreduce, Ratio(8 * 332, 15));
  EXPECT_EQ(figures->alltoall, (ProvedInterval{50, 50}));
}

}  // namespace
}  // namespace forestcoll::testing
