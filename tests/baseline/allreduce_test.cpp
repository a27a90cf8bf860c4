// The two phases of an allreduce run at once: its rate is that of the link which both together load
// most. Checked by counting the loads again, from the trees and the links of the topology alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "baseline/baseline_testing.hpp"

namespace forestcoll {
namespace {

using test::bundled;
using test::make;
using test::TestFabric;

using Ends = std::pair<NodeId, NodeId>;

std::map<Ends, Ratio> bandwidths(const Topology& topology) {
  std::map<Ends, Ratio> result;
  const auto add = [&](NodeId src, NodeId dst, const Ratio& bandwidth) {
    const auto [at, is_new] = result.emplace(Ends{src, dst}, bandwidth);
    if (!is_new) at->second = at->second + bandwidth;
  };
  for (const TopologyLink& link : topology.links) {
    add(link.src, link.dst, link.bandwidth);
    if (link.full_duplex) add(link.dst, link.src, link.bandwidth);
  }
  return result;
}

std::map<Ends, Ratio> loads(const CollectiveForest& forest) {
  std::map<Ends, Ratio> result;
  for (const Forest* phase : {&*forest.reduce, &*forest.broadcast}) {
    std::int64_t all = 0;
    for (std::size_t t = 0; t < phase->tree_count(); ++t) {
      all += phase->tree(TreeId(t)).multiplicity;
    }
    for (std::size_t t = 0; t < phase->tree_count(); ++t) {
      const Forest::Tree& tree = phase->tree(TreeId(t));
      for (std::size_t v = 0; v < phase->rank_count(); ++v) {
        if (Rank(v) == tree.root) continue;
        const auto path = phase->path(TreeId(t), Rank(v));
        for (std::size_t i = 1; i < path.size(); ++i) {
          const auto at = result.emplace(Ends{path[i - 1], path[i]}, Ratio(0)).first;
          at->second = at->second + Ratio(tree.multiplicity, all);
        }
      }
    }
  }
  return result;
}

Ratio counted_rate(const CollectiveForest& forest, const Topology& topology) {
  const auto widths = bandwidths(topology);
  Ratio seconds = 0;
  for (const auto& [ends, load] : loads(forest)) {
    seconds = std::max(seconds, *checked_div(load, widths.at(ends)));
  }
  return *checked_div(Ratio(1), seconds);
}

TestFabric three_boxes() {
  return test::with_boxes("dgx-a100-x2", 3);
}

// Two DGX A100 and one DGX H100, by one NIC per GPU.
TestFabric mixed() {
  return TestFabric(test::parse(R"({"format": "forestcoll-topology", "version": 1,
    "templates": {
      "a100": {"nodes": [{"id": "gpu[0-7]", "type": "compute"}, {"id": "sw", "type": "switch"}],
               "links": [{"src": "gpu[0-7]", "dst": "sw", "bandwidth": 300}]},
      "h100": {"nodes": [{"id": "gpu[0-7]", "type": "compute"}, {"id": "sw", "type": "switch"}],
               "links": [{"src": "gpu[0-7]", "dst": "sw", "bandwidth": 450}]}},
    "boxes": [{"id": "a[0-1]", "template": "a100"}, {"id": "h", "template": "h100"}],
    "nodes": [{"id": "ib", "type": "switch"}],
    "links": [{"src": "a[0-1]/gpu[0-7]", "dst": "ib", "bandwidth": 25},
              {"src": "h/gpu[0-7]", "dst": "ib", "bandwidth": 50}]})"));
}

// 16 nodes, links n -> 2n and 2n + 1 of 1 GB/s one way, no loops.
TestFabric de_bruijn() {
  std::string text = R"({"format": "forestcoll-topology", "version": 1,
    "nodes": [{"id": "n[0-15]", "type": "compute"}], "links": [)";
  std::string comma;
  for (int n = 0; n < 16; ++n) {
    for (const int to : {2 * n % 16, (2 * n + 1) % 16}) {
      if (to == n) continue;
      text += comma + R"({"src": "n)" + std::to_string(n) + R"(", "dst": "n)" + std::to_string(to) +
              R"(", "bandwidth": 1, "duplex": "simplex"})";
      comma = ",";
    }
  }
  return TestFabric(test::parse(text + "]}"));
}

// On links of 1, Bruck reaches 16/81; on links of 1 / D, the odd 81 D is more than 2^63.
TEST(Refusals, OfAllreducesBeyondExactArithmetic) {
  EXPECT_EQ(make("bruck", de_bruijn(), Collective::allreduce).algbw, Ratio(16, 81));
  Topology topology = de_bruijn().topology;
  for (TopologyLink& link : topology.links) {
    link.bandwidth = Ratio(1, (std::int64_t{1} << 58) - 1);
  }
  const auto result = test::try_make("bruck", TestFabric(topology), Collective::allreduce);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.errors().front().code, Code::E14);
  EXPECT_EQ(result.errors().front().kind, ErrorKind::limit);
}

struct Case {
  const char* name;
  TestFabric (*fabric)();
  const char* algorithm;
  Ratio known;  ///< GB/s
};

class AllreduceRate : public ::testing::TestWithParam<Case> {};

TEST_P(AllreduceRate, IsThatOfTheLinkThatBothPhasesLoadMost) {
  const TestFabric fabric = GetParam().fabric();
  EXPECT_EQ(make(GetParam().algorithm, fabric, Collective::allreduce).algbw, GetParam().known);
  for (const BaselineInfo& info : baselines()) {
    const std::string name(info.name);
    const auto result = test::try_make(name, fabric, Collective::allreduce);
    if (!result || !result->forest) continue;
    EXPECT_EQ(result->algbw, counted_rate(*result->forest, fabric.topology)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics, AllreduceRate,
    ::testing::Values(
        Case{"TwoBoxes", [] { return bundled("dgx-a100-x2"); }, "double-tree", Ratio(1200, 7)},
        Case{"ThreeBoxes", three_boxes, "double-tree", Ratio(400, 3)},
        Case{"Dgx1", [] { return bundled("dgx-1-v100"); }, "double-tree", Ratio(200, 3)},
        Case{"Hypercube", [] { return bundled("hypercube-16"); }, "double-tree", Ratio(16, 11)},
        Case{"Mixed", mixed, "double-tree", Ratio(400, 3)},
        Case{"DeBruijn", de_bruijn, "greedy", Ratio(8, 11)}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace forestcoll
