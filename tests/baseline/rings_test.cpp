// Rings: that they are some, what the options do, and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "baseline/baseline_testing.hpp"
#include "baseline/boxes.hpp"
#include "baseline/path_finder.hpp"
#include "baseline/rings/ring_search.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

using test::bundled;
using test::code_of;
using test::make;
using test::TestFabric;
using test::try_make;
using ::testing::HasSubstr;

// Every order visits all, and the speeds together fit every link.
TEST(RingSearch, FindsRingsThatFit) {
  for (const char* name : {"dgx-1-v100", "hypercube-16", "mi250-x1", "torus-4x4", "dgx-a100-x1"}) {
    for (const bool constants : {false, true}) {
      if (constants && std::string(name) != "dgx-1-v100" && std::string(name) != "dgx-a100-x1") {
        continue;  // slower than the table's slowest speed
      }
      const auto fabric = bundled(name);
      const auto boxes = baseline::group_boxes(fabric.topology, fabric.network);
      baseline::PathFinder finder(fabric.network, boxes.box_of);
      const auto found = baseline::search_rings(fabric.network, finder, all_ranks(fabric),
                                                {.nccl_constants = constants});
      ASSERT_FALSE(found.orders.empty()) << name;
      std::map<ArcId, Ratio> used;
      for (const auto& order : found.orders) {
        EXPECT_EQ(std::set<std::int32_t>(order.begin(), order.end()).size(),
                  fabric.network.ranks.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
          const auto path = finder.find(Rank(order[i]), Rank(order[(i + 1) % order.size()]),
                                        baseline::Through::box);
          for (const ArcId a : baseline::arcs_of(fabric.network, path)) {
            used[a] = used[a] + found.speed;
          }
        }
      }
      for (const auto& [arc, speed] : used) {
        EXPECT_LE(speed, Ratio(fabric.network.capacity[arc]) * fabric.network.unit) << name;
      }
    }
  }
}

baseline::RingOrders search_in(const std::string& links) {
  const TestFabric fabric(test::parse(
      R"({"format": "forestcoll-topology", "version": 1, "nodes": [{"id": "g[0-3]", "type": "compute"},
        {"id": "sw[0-1]", "type": "switch"}], "links": [)" +
      links + "]}"));
  const auto boxes = baseline::group_boxes(fabric.topology, fabric.network);
  baseline::PathFinder finder(fabric.network, boxes.box_of);
  return baseline::search_rings(fabric.network, finder, all_ranks(fabric), {});
}

// Both directions of the one cycle are found; that over the wide link comes first.
TEST(RingSearch, TakesWideLinksFirst) {
  const auto found = search_in(R"({"src": "g0", "dst": "g1", "bandwidth": 1},
      {"src": "g0", "dst": "g2", "bandwidth": 2}, {"src": "g1", "dst": "g3", "bandwidth": 1},
      {"src": "g2", "dst": "g3", "bandwidth": 1}, {"src": "g0", "dst": "g3", "bandwidth": 1})");
  ASSERT_EQ(found.orders.size(), 2U);
  EXPECT_EQ(found.orders.front(), (std::vector<std::int32_t>{0, 2, 3, 1}));
  EXPECT_EQ(found.orders.back(), (std::vector<std::int32_t>{0, 1, 3, 2}));
}

// Behind a switch, a ring may go on to the rank before.
TEST(RingSearch, GoesBothWaysBehindASwitch) {
  const auto found = search_in(R"({"src": "g[0-1]", "dst": "sw0", "bandwidth": 1},
      {"src": "g[2-3]", "dst": "sw1", "bandwidth": 1},
      {"src": "g0", "dst": "g3", "bandwidth": 1, "duplex": "simplex"},
      {"src": "g2", "dst": "g1", "bandwidth": 1, "duplex": "simplex"})");
  ASSERT_EQ(found.orders.size(), 1U);
  EXPECT_EQ(found.orders.front(), (std::vector<std::int32_t>{0, 3, 2, 1}));
}

TEST(RingSearch, NcclsTableHasRoundSpeeds) {
  const auto fabric = bundled("dgx-a100-x1");
  const auto free = make("nccl-ring", fabric);
  const auto table = make("nccl-ring", fabric, Collective::allgather, {.nccl_constants = true});
  EXPECT_EQ(free.rings, 1);
  EXPECT_EQ(table.rings, 10);  // of 30 GB/s
  EXPECT_THAT(table.note, HasSubstr("NCCL search: 10 of 30 GB/s"));
  EXPECT_EQ(free.algbw, table.algbw);
}

// Which rails each tree edge between boxes leaves and enters by: position of the GPU in its box.
std::set<std::pair<int, int>> rails_used(const TestFabric& fabric, const BaselineResult& result) {
  std::set<std::pair<int, int>> used;
  const Forest& forest = *result.forest->broadcast;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      const Rank parent = forest.parent(TreeId(t), Rank(v));
      if (!parent.valid() || parent.value / 8 == static_cast<int>(v) / 8) continue;
      used.emplace(parent.value % 8, static_cast<int>(v) % 8);
    }
  }
  EXPECT_EQ(fabric.network.ranks.size() % 8, 0U);
  return used;
}

// Each leaf joins NICs of one rail: rings stay on it, and change it inside the boxes.
TEST(Rails, FollowTheirLeafSwitches) {
  const auto fabric = bundled("dgx-h100-x4-rail-2to1");
  const auto result = make("nccl-ring", fabric);
  EXPECT_EQ(result.algbw, Ratio(32, 31) * Ratio(400));
  for (const auto& [from, to] : rails_used(fabric, result)) EXPECT_EQ(from, to);
}

TEST(Rails, CrossNicExchangesThemInPairs) {
  const auto fabric = bundled("dgx-a100-x4");
  const auto plain = make("nccl-ring", fabric);
  const auto crossed = make("nccl-ring", fabric, Collective::allgather, {.cross_nic = true});
  EXPECT_EQ(plain.algbw, crossed.algbw);
  for (const auto& [from, to] : rails_used(fabric, plain)) EXPECT_NE(from, to);
  for (const auto& [from, to] : rails_used(fabric, crossed)) EXPECT_EQ(from, to);
}

// Of box 0 and of the last one NICs are dead where `is_damaged`, of different rails.
std::string rails_without_spine(int boxes, bool first_is_damaged = false,
                                bool last_is_damaged = false) {
  const auto link = [](int from, int to, int gpu) {
    return fmt::format(R"({{"src": "b[{}-{}]/g{}", "dst": "rail{}", "bandwidth": 10}})", from, to,
                       gpu, gpu);
  };
  const int last = boxes - 1;
  return fmt::format(
      R"({{"format": "forestcoll-topology", "version": 1, "name": "rails",
    "templates": {{"b": {{"nodes": [{{"id": "g[0-3]", "type": "compute"}},
                                    {{"id": "sw", "type": "switch"}}],
      "links": [{{"src": "g[0-3]", "dst": "sw", "bandwidth": 100}}]}}}},
    "boxes": [{{"id": "b[0-{}]", "template": "b"}}],
    "nodes": [{{"id": "rail[0-3]", "type": "switch"}}],
    "links": [{}, {}, {}, {}]}})",
      last, link(0, last, 0), link(first_is_damaged ? 1 : 0, last, 1),
      link(0, last_is_damaged ? last - 1 : last, 2), link(0, last, 3));
}

// The network joins no two rails: with an odd number of boxes a third one helps out.
TEST(Rails, WithoutASpineChangeInsideTheBoxes) {
  for (const int boxes : {2, 3, 4, 5}) {
    const TestFabric fabric(test::parse(rails_without_spine(boxes)));
    const auto result = make("nccl-ring", fabric);
    const int n = 4 * boxes;
    EXPECT_EQ(result.algbw, Ratio(n, n - 1) * Ratio(40)) << boxes;
    EXPECT_TRUE(result.forest) << boxes;
  }
}

// A rail that lacks a NIC in some box is left out, and the others stay what they are.
TEST(Rails, OfDamagedBoxesAreThoseThatAllHave) {
  for (const int boxes : {2, 3, 4, 5}) {
    const TestFabric one(test::parse(rails_without_spine(boxes, false, true)));
    const TestFabric other(test::parse(rails_without_spine(boxes, true, false)));
    const int n = 4 * boxes;
    for (const TestFabric* fabric : {&one, &other}) {
      const auto ring = make("nccl-ring", *fabric);
      EXPECT_EQ(ring.algbw, Ratio(n, n - 1) * Ratio(30)) << boxes;
      EXPECT_TRUE(ring.forest) << boxes;
      const auto tree = make("double-tree", *fabric, Collective::allreduce);
      EXPECT_TRUE(tree.forest) << boxes;
    }
  }
  for (const int boxes : {2, 4}) {
    const TestFabric both(test::parse(rails_without_spine(boxes, true, true)));
    const int n = 4 * boxes;
    const auto ring = make("nccl-ring", both);
    EXPECT_EQ(ring.algbw, Ratio(n, n - 1) * Ratio(20)) << boxes;
    EXPECT_TRUE(ring.forest) << boxes;
    EXPECT_TRUE(make("double-tree", both, Collective::allreduce).forest) << boxes;
  }
}

// On a box whose GPUs are linked directly, rings leave where they must.
TEST(Rails, RelayWhereNothingElseIsLeft) {
  const TestFabric fabric(test::parse(R"({"format": "forestcoll-topology", "version": 1,
    "templates": {"b": {"nodes": [{"id": "g[0-1]", "type": "compute"}],
      "links": [{"src": "g0", "dst": "g1", "bandwidth": 4}]}},
    "boxes": [{"id": "b[0-1]", "template": "b"}],
    "links": [{"src": "b0/g1", "dst": "b1/g0", "bandwidth": 1}]})"));
  const auto result = make("nccl-ring", fabric);
  EXPECT_FALSE(result.forest);
  EXPECT_THAT(result.note, HasSubstr("the rate alone"));
  EXPECT_EQ(result.algbw, Ratio(4, 3));
}

NcclGraph graph_of(std::vector<std::int64_t> gpus, bool nics = false) {
  NcclChannel channel{.gpus = std::move(gpus), .net_in = {}, .net_out = {}};
  if (nics) channel.net_in = channel.net_out = 0;
  return {.id = 0,
          .pattern = 4,
          .speed_intra = 25,
          .speed_inter = 25,
          .channels = {std::move(channel)}};
}

TEST(GraphFile, ItsRingsAreTaken) {
  const auto fabric = bundled("dgx-1-v100");
  const NcclGraph graph = graph_of({0, 1, 5, 4, 7, 6, 2, 3});
  const auto result = make("nccl-ring", fabric, Collective::allgather, {.graph = &graph});
  const Forest& forest = *result.forest->broadcast;
  EXPECT_EQ(result.rings, 1);
  EXPECT_EQ(forest.parent(TreeId(0), Rank(5)), Rank(1));
  EXPECT_EQ(forest.parent(TreeId(0), Rank(3)), Rank(2));
  EXPECT_EQ(result.algbw, Ratio(8, 7) * Ratio(25));
}

// A channel that names its NICs enters by its first GPU and leaves by its last.
TEST(GraphFile, ChannelsWithNicsAreTakenAsTheyAre) {
  const auto fabric = bundled("dgx-a100-x2");
  const NcclGraph graph = graph_of({2, 3, 5, 7, 1, 6, 4, 0}, true);
  const auto result = make("nccl-ring", fabric, Collective::allgather, {.graph = &graph});
  ASSERT_TRUE(result.forest);
  EXPECT_EQ(result.forest->broadcast->parent(TreeId(0), Rank(10)), Rank(0));
  EXPECT_EQ(result.algbw, Ratio(16, 15) * Ratio(25));
}

// With PXN the last GPU hands its data to the first, beside whose NIC it leaves the box.
TEST(GraphFile, WithPxnChannelsLeaveThroughTheirFirst) {
  const auto fabric = bundled("dgx-a100-x2");
  NcclGraph graph = graph_of({2, 3, 5, 7, 1, 6, 4, 0}, true);
  graph.channels.push_back(graph_of({1, 2, 3, 4, 5, 6, 7, 0}, true).channels.front());
  graph.pxn = true;
  const auto result = make("nccl-ring", fabric, Collective::allgather, {.graph = &graph});
  EXPECT_FALSE(result.forest);
  EXPECT_EQ(result.algbw, Ratio(16, 15) * Ratio(50)) << "GPUs 2 and 1 have a NIC each";
}

// Who sends to whom in a forest.
std::set<std::pair<NodeId, NodeId>> transfers(const Forest& forest) {
  std::set<std::pair<NodeId, NodeId>> all;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      if (!forest.parent(TreeId(t), Rank(v)).valid()) continue;
      const auto path = forest.path(TreeId(t), Rank(v));
      all.emplace(path.front(), path.back());
    }
  }
  return all;
}

TEST(Rings, GoRoundInOneDirectionInBothPhases) {
  const auto fabric = bundled("dgx-1-v100");
  const NcclGraph graph = graph_of({0, 1, 5, 4, 7, 6, 2, 3});
  const auto result = make("nccl-ring", fabric, Collective::allreduce, {.graph = &graph});
  EXPECT_EQ(transfers(*result.forest->broadcast).size(), 8U);
  EXPECT_EQ(transfers(*result.forest->broadcast), transfers(*result.forest->reduce));
  const auto levels = make("hierarchical", bundled("dgx-a100-x2"), Collective::allreduce);
  EXPECT_EQ(transfers(*levels.forest->broadcast), transfers(*levels.forest->reduce));
}

TEST(GraphFile, ThatDoesNotFitIsRefused) {
  const auto code = [](const TestFabric& fabric, const NcclGraph& graph) {
    return code_of(try_make("nccl-ring", fabric, Collective::allgather, {.graph = &graph}));
  };
  const auto dgx1 = bundled("dgx-1-v100");
  EXPECT_EQ(code(dgx1, graph_of({0, 1, 2})), Code::B07);
  EXPECT_EQ(code(dgx1, graph_of({0, 1, 2, 3, 4, 5, 6, 8})), Code::B07);
  EXPECT_EQ(code(dgx1, graph_of({0, 1, 2, 3, 4, 5, 6, -1})), Code::B07);
  EXPECT_EQ(code(dgx1, graph_of({0, 1, 2, 3, 4, 5, 6, 6})), Code::B07);
  NcclGraph empty = graph_of({0});
  empty.channels.clear();
  EXPECT_EQ(code(dgx1, empty), Code::B07);
  // Three links apart.
  const TestFabric ring(test::parse(R"({"format": "forestcoll-topology", "version": 1,
    "nodes": [{"id": "g[0-5]", "type": "compute"}],
    "links": [{"src": "g[0-5]", "dst": "g[1-5,0]", "bandwidth": 1,
               "pair": "zip"}]})"));
  EXPECT_EQ(code(ring, graph_of({0, 3, 4, 5, 2, 1})), Code::B08);
}

// 0 and 7 are not joined; 3 and 4 are joined with both. Trees have no such hop.
TEST(GraphFile, GoesThroughAGpuForItsRate) {
  const auto dgx1 = bundled("dgx-1-v100");
  const NcclGraph graph = graph_of({0, 7, 6, 5, 4, 3, 2, 1});
  const auto result = make("nccl-ring", dgx1, Collective::allgather, {.graph = &graph});
  EXPECT_FALSE(result.forest);
  EXPECT_THAT(result.note, HasSubstr("relayed by GPUs"));
  // One ring, whose busiest link carries seven eighths.
  EXPECT_EQ(result.algbw, Ratio(200, 7));
}

std::string line_of_three() {
  return R"({"format": "forestcoll-topology", "version": 1, "nodes": [{"id": "g[0-2]", "type": "compute"}],
    "links": [{"src": "g0", "dst": "g1", "bandwidth": 1}, {"src": "g1", "dst": "g2", "bandwidth": 1}]})";
}

TEST(Refusals, SayWhatIsMissing) {
  const TestFabric line(test::parse(line_of_three()));
  EXPECT_EQ(code_of(try_make("nccl-ring", line)), Code::B01);
  EXPECT_EQ(code_of(try_make("hierarchical", line)), Code::B01);
  EXPECT_EQ(code_of(try_make("double-tree", line, Collective::allreduce)), Code::B01);
  EXPECT_EQ(code_of(try_make("halving-doubling", line)), Code::B02);
  EXPECT_EQ(code_of(try_make("nvls", line, Collective::allreduce)), Code::B03);
  EXPECT_EQ(code_of(try_make("nvls", line, Collective::allgather)), Code::B06);
  EXPECT_EQ(code_of(try_make("double-tree", line, Collective::allgather)), Code::B06);
  EXPECT_EQ(code_of(try_make("bfb", line, Collective::broadcast)), Code::B06);
  EXPECT_EQ(code_of(try_make("taccl", line)), Code::B09);
  const auto uneven = test::only_ranks(bundled("dgx-a100-x2"), "0-14");
  EXPECT_EQ(code_of(try_make("hierarchical", uneven)), Code::B02);
  EXPECT_EQ(code_of(try_make("nccl-ring", uneven)), std::nullopt);
}

TEST(Refusals, BeyondTheirSizes) {
  const auto fabric = test::star(513);
  for (const char* name : {"multitree", "bfb", "greedy"}) {
    const auto result = try_make(name, fabric);
    ASSERT_FALSE(result) << name;
    EXPECT_EQ(result.errors().front().code, Code::B04);
    EXPECT_EQ(result.errors().front().kind, ErrorKind::limit);
  }
}

TEST(Refusals, OfUnequalShares) {
  Topology topology = bundled("dgx-a100-x1").topology;
  topology.nodes[topology.ranks[3]].weight = 2;
  const TestFabric fabric(topology);
  EXPECT_EQ(code_of(try_make("nccl-ring", fabric, Collective::allreduce)), std::nullopt);
  EXPECT_EQ(code_of(try_make("nccl-ring", fabric, Collective::broadcast)), std::nullopt);
  topology.nodes[topology.ranks[2]].weight = 0;
  const TestFabric with_none(std::move(topology));
  EXPECT_EQ(code_of(try_make("nccl-ring", with_none)), Code::B05);
  EXPECT_EQ(code_of(try_make("nccl-ring", with_none, Collective::broadcast)), std::nullopt);
}

// Of 9 parts, a ring brings every rank what the others own, up to 8 over 300 GB/s; in one shot the
// owner of two sends them 7 times.
TEST(UnequalShares, MakeTreesAsWideAsTheirRootsShares) {
  Topology topology = bundled("dgx-a100-x1").topology;
  topology.nodes[topology.ranks[3]].weight = 2;
  const TestFabric fabric(std::move(topology));
  for (const auto collective : {Collective::allgather, Collective::reduce_scatter}) {
    for (const auto& [name, parts] :
         {std::pair("nccl-ring", 8), std::pair("ring", 8), std::pair("one-shot", 14)}) {
      const auto result = try_make(name, fabric, collective);
      ASSERT_TRUE(result) << to_string(result.errors().front());

      EXPECT_EQ(result->algbw, Ratio(300 * 9, parts)) << name;
      ASSERT_TRUE(result->forest);
      EXPECT_EQ(result->forest->weight[Rank(3)], 2);
      const auto verdict =
          verify(to_forest_json(*result->forest, fabric.topology), "f.json", &fabric.topology, {});
      ASSERT_TRUE(verdict);
      EXPECT_TRUE(verdict->findings.empty() || verdict->findings.front().code == Code::V25)
          << to_string(verdict->findings.front());
    }
  }
}

// One phase is bound by the link out of the first rank, the other by the one into it, and the
// bandwidths have no common factor.
// Chains of direct links between boxes reach the next box only.
TEST(Refusals, OfTreesWithoutLinks) {
  const TestFabric fabric(test::parse(R"({"format": "forestcoll-topology", "version": 1,
    "templates": {"b": {"nodes": [{"id": "g[0-1]", "type": "compute"}],
      "links": [{"src": "g0", "dst": "g1", "bandwidth": 4}]}},
    "boxes": [{"id": "b[0-2]", "template": "b"}],
    "links": [{"src": "b0/g0", "dst": "b1/g0", "bandwidth": 1},
              {"src": "b1/g0", "dst": "b2/g0", "bandwidth": 1}]})"));
  EXPECT_EQ(code_of(try_make("double-tree", fabric, Collective::allreduce)), Code::B08);
}

TEST(Registry, HasAllInOrder) {
  std::string names;
  for (const BaselineInfo& info : baselines()) {
    names += std::string(info.name) + " ";
    EXPECT_EQ(find_baseline(info.name)->title, info.title);
    EXPECT_FALSE(info.source.empty());
    EXPECT_FALSE(info.supported.empty());
  }
  EXPECT_EQ(names,
            "nccl-ring ring double-tree double-tree-direct double-tree-binomial nvls "
            "halving-doubling bruck multitree bfb hierarchical greedy pat swing bine one-shot "
            "two-shot two-level rail-pat two-level-pat ");
  EXPECT_EQ(find_baseline("forestcoll"), nullptr);
}

}  // namespace
}  // namespace forestcoll
