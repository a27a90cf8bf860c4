// Rings for NCCL_GRAPH_FILE: as many as the links hold, each through every GPU, and read back.
#include "forestcoll/nccl_graph.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "baseline/rings/pack_rings.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/topology_text.hpp"
#include "forestcoll/verify.hpp"
#include "support/files.hpp"

namespace forestcoll {
namespace {

using baseline::BoxLinks;
using ::testing::HasSubstr;

BoxLinks links_of(std::size_t gpus, const std::vector<std::array<std::size_t, 3>>& both_ways) {
  BoxLinks links{gpus, std::vector<Capacity>(gpus * gpus, 0)};
  for (const auto& [a, b, capacity] : both_ways) {
    links.capacity[a * gpus + b] = links.capacity[b * gpus + a] = static_cast<Capacity>(capacity);
  }
  return links;
}

BoxLinks cube(std::size_t dimensions) {
  std::vector<std::array<std::size_t, 3>> edges;
  for (std::size_t v = 0; v < std::size_t{1} << dimensions; ++v) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      const std::size_t w = v ^ (std::size_t{1} << d);
      if (v < w) edges.push_back({v, w, 1});
    }
  }
  return links_of(std::size_t{1} << dimensions, edges);
}

// By definition: each ring visits every GPU once, and no link carries more than it can.
void expect_fits(const BoxLinks& links, const baseline::RingOrders& rings) {
  std::vector<Ratio> used(links.capacity.size(), Ratio(0));
  for (const auto& order : rings.orders) {
    EXPECT_EQ(order.size(), links.gpus);
    EXPECT_EQ((std::set<std::int32_t>(order.begin(), order.end()).size()), links.gpus);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto from = static_cast<std::size_t>(order[i]);
      const auto to = static_cast<std::size_t>(order[(i + 1) % order.size()]);
      Ratio& on_link = used[from * links.gpus + to];
      on_link = on_link + rings.speed;
    }
  }
  for (std::size_t i = 0; i < used.size(); ++i) EXPECT_LE(used[i], Ratio(links.capacity[i]));
}

// Hypercubes of an even dimension are sums of Hamiltonian cycles (Ringel, 1956).
TEST(PackRings, FillAHypercube) {
  const BoxLinks links = cube(4);
  const auto rings = baseline::pack_rings(links, 32);
  expect_fits(links, rings);
  EXPECT_EQ(rings.speed * Ratio(static_cast<std::int64_t>(rings.orders.size())), Ratio(4));
}

// Five GPUs, each linked with each: two Hamiltonian cycles, each in both directions.
TEST(PackRings, FillACompleteGraph) {
  std::vector<std::array<std::size_t, 3>> edges;
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = a + 1; b < 5; ++b) edges.push_back({a, b, 3});
  }
  const BoxLinks links = links_of(5, edges);
  const auto rings = baseline::pack_rings(links, 32);
  expect_fits(links, rings);
  EXPECT_EQ(rings.speed * Ratio(static_cast<std::int64_t>(rings.orders.size())), Ratio(12));
}

// The links of one GPU are what bounds the rings; unequal ones are filled by slower rings.
TEST(PackRings, FillUnequalLinks) {
  const BoxLinks links = links_of(3, {{{0, 1, 2}, {1, 2, 3}, {2, 0, 2}}});
  const auto rings = baseline::pack_rings(links, 32);
  expect_fits(links, rings);
  EXPECT_EQ(rings.speed * Ratio(static_cast<std::int64_t>(rings.orders.size())), Ratio(4));
}

TEST(PackRings, NoneWithoutACycleOrWithTooManyGpus) {
  EXPECT_TRUE(
      baseline::pack_rings(links_of(4, {{{0, 1, 1}, {0, 2, 1}, {0, 3, 1}}}), 32).orders.empty());
  EXPECT_TRUE(baseline::pack_rings(links_of(2, {{{0, 1, 1}}}), 32).orders.empty());
  EXPECT_TRUE(baseline::pack_rings(cube(5), 32).orders.empty());
  BoxLinks huge = cube(2);
  for (Capacity& capacity : huge.capacity) capacity *= Capacity{1} << 60;
  EXPECT_TRUE(baseline::pack_rings(huge, 32).orders.empty());
}

TEST(PackRings, KeepToTheMost) {
  const BoxLinks links = cube(4);
  const auto rings = baseline::pack_rings(links, 2);
  expect_fits(links, rings);
  EXPECT_LE(rings.orders.size(), 2U);
}

struct Made {
  ParsedTopology parsed;
  NcclGraphs graphs;
  std::string text;
};

Made made_for(const std::string& topology) {
  auto parsed = parse_topology(test::bundled_text(topology), topology);
  EXPECT_TRUE(parsed);
  const auto network = to_digraph(parsed->topology);
  auto graphs = make_nccl_graphs(parsed->topology, *network, {}, false);
  EXPECT_TRUE(graphs) << to_string(graphs.errors().front());
  std::string text = to_nccl_graph_xml(*graphs, parsed->topology);
  return {*std::move(parsed), *std::move(graphs), std::move(text)};
}

class BundledGraphs : public ::testing::TestWithParam<const char*> {};

// No worse than NCCL's own; read back they are the same rings, at the same rate; and verified.
TEST_P(BundledGraphs, AreReadBackAndNoWorse) {
  const Made made = made_for(GetParam());
  EXPECT_GE(made.graphs.algbw, made.graphs.own_algbw);
  EXPECT_LE(std::ssize(made.graphs.graphs.front().channels), kMostNcclChannels);
  const auto read = read_nccl_graph(made.text, "graph.xml");
  ASSERT_TRUE(read) << to_string(read.errors().front());
  ASSERT_EQ(read->size(), 2U);
  for (std::size_t g = 0; g < 2; ++g) {
    const NcclGraph& graph = made.graphs.graphs[g];
    EXPECT_EQ((*read)[g].id, static_cast<std::int64_t>(g));
    ASSERT_EQ((*read)[g].channels.size(), graph.channels.size());
    for (std::size_t c = 0; c < graph.channels.size(); ++c) {
      EXPECT_EQ((*read)[g].channels[c].gpus, graph.channels[c].gpus);
      EXPECT_EQ((*read)[g].channels[c].net_in, graph.channels[c].net_in);
    }
  }
  const BaselineOptions given{.graph = &read->front()};
  const auto rings =
      make_baseline("nccl-ring", made.parsed.topology, *to_digraph(made.parsed.topology),
                    Collective::allgather, std::nullopt, given);
  ASSERT_TRUE(rings) << to_string(rings.errors().front());
  EXPECT_EQ(rings->algbw, made.graphs.algbw);
  const auto verdict = verify(made.text, "graph.xml", &made.parsed.topology, {});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok) << to_string(verdict->findings.front());
  EXPECT_EQ(verdict->format, "nccl-graph");
}

INSTANTIATE_TEST_SUITE_P(All, BundledGraphs,
                         ::testing::Values("dgx-1-v100", "dgx-a100-x2", "hypercube-16",
                                           "dgx-h100-x4-rail", "torus-4x4"));

// NCCL's search finds three of the four.
TEST(NcclGraphs, BeatTheSearchOnAHypercube) {
  const Made made = made_for("hypercube-16");
  EXPECT_EQ(made.graphs.algbw, Ratio(64, 15));
  EXPECT_EQ(made.graphs.own_algbw, Ratio(16, 5));
}

NcclGraphs graphs_of_four(const std::string& links) {
  const auto parsed = parse_topology(
      R"({"format": "forestcoll-topology", "version": 1, "name": "four",
          "nodes": [{"id": "g[0-3]", "type": "compute"}], "links": [)" +
          links + "]}",
      "four");
  EXPECT_TRUE(parsed) << to_string(parsed.errors().front());
  auto graphs = make_nccl_graphs(parsed->topology, *to_digraph(parsed->topology), {}, false);
  EXPECT_TRUE(graphs) << to_string(graphs.errors().front());
  const std::string text = to_nccl_graph_xml(*graphs, parsed->topology);
  EXPECT_THAT(text, HasSubstr("typeintra=\"NVB\""));
  const auto verdict = verify(text, "graph", &parsed->topology, {});
  EXPECT_TRUE(verdict && verdict->ok) << to_string(verdict->findings.front());
  return *std::move(graphs);
}

// Two GPUs are joined by no link. NCCL 2.28 itself finds three rings of 20 GB/s through a third: at
// 40 GB/s there is a ring of such ways alone.
TEST(NcclGraphs, OwnRingsGoThroughGpusWhereThereAreNoOthers) {
  const NcclGraphs graphs = graphs_of_four(
      R"({"src": "g0", "dst": "g[1-2]", "bandwidth": 40}, {"src": "g1", "dst": "g[2-3]", "bandwidth": 40},
         {"src": "g0", "dst": "g3", "bandwidth": 20})");
  EXPECT_EQ(graphs.algbw, Ratio(80));
  EXPECT_EQ(graphs.own_algbw, Ratio(80));
}

// Here it finds two of links alone and looks no further, but takes three from a file.
TEST(NcclGraphs, RingsThroughGpusAreWrittenWhereTheyAreFaster) {
  const NcclGraphs graphs = graphs_of_four(
      R"({"src": "g0", "dst": "g[1-3]", "bandwidth": 40}, {"src": "g1", "dst": "g[2-3]", "bandwidth": 20})");
  EXPECT_EQ(graphs.algbw, Ratio(80));
  EXPECT_EQ(graphs.own_algbw, Ratio(160, 3));
  EXPECT_EQ(graphs.origin, "rings through other GPUs");
}

// Every rail has as many channels, which begin at its GPU.
TEST(NcclGraphs, ChannelsBeginAtTheNicsOfTheirRails) {
  const Made made = made_for("dgx-a100-x2");
  EXPECT_EQ(made.graphs.nics, 8U);
  std::vector<int> of_nic(8, 0);
  for (const NcclChannel& channel : made.graphs.graphs.front().channels) {
    EXPECT_EQ(channel.net_in, channel.net_out);
    EXPECT_EQ(*channel.net_in, channel.gpus.front());
    ++of_nic[static_cast<std::size_t>(*channel.net_in)];
  }
  for (const int channels : of_nic) EXPECT_EQ(channels, of_nic.front());
}

// A box of one GPU has channels of a NIC in, the GPU and the NIC out.
TEST(NcclGraphs, OneGpuPerBoxGoesOutAndIn) {
  const auto parsed = parse_topology(R"({"format": "forestcoll-topology", "version": 1,
    "name": "hosts", "nodes": [{"id": "gpu[0-3]", "type": "compute", "box": "host[0-3]"},
    {"id": "sw", "type": "switch"}],
    "links": [{"src": "gpu[0-3]", "dst": "sw", "bandwidth": 50}]})",
                                     "hosts");
  ASSERT_TRUE(parsed) << to_string(parsed.errors().front());
  const auto graphs = make_nccl_graphs(parsed->topology, *to_digraph(parsed->topology), {}, false);
  ASSERT_TRUE(graphs) << to_string(graphs.errors().front());
  const std::string text = to_nccl_graph_xml(*graphs, parsed->topology);
  EXPECT_THAT(text, HasSubstr("nchannels=\"2\" speedintra=\"25\" speedinter=\"25\""));
  const auto verdict = verify(text, "graph", &parsed->topology, {});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok) << to_string(verdict->findings.front());
}

TEST(NcclGraphs, BoxesOfDifferentSizesHaveNoCommonFile) {
  const auto parsed = parse_topology(R"({"format": "forestcoll-topology", "version": 1,
    "name": "unequal", "nodes": [{"id": "a[0-1]", "type": "compute", "box": "a"},
    {"id": "b[0-2]", "type": "compute", "box": "b"}, {"id": "sw", "type": "switch"}],
    "links": [{"src": "a[0-1]", "dst": "sw", "bandwidth": 1},
              {"src": "b[0-2]", "dst": "sw", "bandwidth": 1}]})",
                                     "unequal");
  ASSERT_TRUE(parsed) << to_string(parsed.errors().front());
  const auto graphs = make_nccl_graphs(parsed->topology, *to_digraph(parsed->topology), {}, false);
  ASSERT_FALSE(graphs);
  EXPECT_EQ(graphs.errors().front().code, Code::B02);
}

}  // namespace
}  // namespace forestcoll
