// Topology files that are written: read back they are what was meant.
#include "forestcoll/topology_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "topology/format/host_list.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

TopologyDocument two_boxes() {
  TopologyDocument document{.name = "two \"boxes\"", .description = "a\nb"};
  document.metadata = {{"source", "a datasheet"}};
  document.templates = {
      {"small",
       {.nodes = {{.ids = "gpu[0-1]"}, {.ids = "sw", .type = NodeType::switch_node}},
        .links = {{.src = "gpu[0-1]",
                   .dst = "sw",
                   .bandwidth = "25",
                   .kind = "nvlink",
                   .count = 12,
                   .latency = "0.7"}}}}};
  document.boxes = {{"box[0-1]", "small"}};
  document.top.nodes = {{.ids = "ib", .type = NodeType::switch_node, .multicast = true}};
  document.top.links = {{.src = "box[0-1]/gpu[0-1]", .dst = "ib", .bandwidth = "200 Gb/s"},
                        {.src = "box0/gpu0",
                         .dst = "box1/gpu0",
                         .bandwidth = "1000/3",
                         .full_duplex = false,
                         .enabled = false,
                         .derate = "1/2"}};
  return document;
}

TEST(TopologyText, WritesTemplatesAsTheParserReadsThem) {
  const std::string text = to_topology_json(two_boxes());
  const Topology topology = parse_valid(text);
  EXPECT_EQ(topology.name, "two \"boxes\"");
  EXPECT_EQ(topology.description, "a\nb");
  ASSERT_EQ(topology.nodes.size(), 7U);
  EXPECT_EQ(topology.nodes[NodeId(0)].box, "box0");
  EXPECT_TRUE(topology.nodes[NodeId(6)].multicast);
  ASSERT_EQ(topology.links.size(), 9U);
  EXPECT_EQ(topology.links[LinkId(0)].bandwidth, Ratio(300));
  EXPECT_EQ(topology.links[LinkId(0)].latency, Ratio(7, 10));
  EXPECT_EQ(topology.links[LinkId(4)].bandwidth, Ratio(25));
  EXPECT_EQ(topology.links[LinkId(8)].bandwidth, Ratio(500, 3));
  EXPECT_FALSE(topology.links[LinkId(8)].enabled);
  EXPECT_FALSE(topology.links[LinkId(8)].full_duplex);
}

TEST(TopologyText, LeavesDefaultsOut) {
  const std::string text = to_topology_json(two_boxes());
  EXPECT_THAT(text, HasSubstr("    { \"src\": \"box[0-1]/gpu[0-1]\", \"dst\": \"ib\", "
                              "\"bandwidth\": \"200 Gb/s\" },\n"));
  EXPECT_THAT(text, HasSubstr("\"links\": [{ \"src\": \"gpu[0-1]\", \"dst\": \"sw\", "
                              "\"bandwidth\": 25, \"count\": 12, \"latency\": 0.7, "
                              "\"kind\": \"nvlink\" }]\n"));
  EXPECT_THAT(text, Not(HasSubstr("rank_order")));
  EXPECT_THAT(text, Not(HasSubstr("weight")));
}

// Everything that a flat file can say.
constexpr const char* kFlat = R"({"format": "forestcoll-topology", "version": 1, "name": "all",
 "description": "d",
 "nodes": [{"id": "a[0-1]", "type": "compute", "box": "left", "weight": "1/3"},
           {"id": "b", "type": "compute", "weight": 0}, {"id": "down", "type": "compute",
           "enabled": false},
           {"id": "s", "type": "switch", "multicast": true, "reduce": true, "echo": false}],
 "links": [{"src": "a[0-1]", "dst": "s", "bandwidth": "1000/7", "count": 3, "latency": "1/3"},
           {"src": "b", "dst": "s", "bandwidth": 370.8, "latency": 0.25, "kind": "x\"y"},
           {"src": "down", "dst": "s", "bandwidth": 1},
           {"src": "b", "dst": "a0", "bandwidth": 0.125, "duplex": "simplex", "enabled": false}],
 "rank_order": ["b", "a[0-1]"]})";

void expect_same(const Topology& a, const Topology& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.description, b.description);
  EXPECT_EQ(a.ranks, b.ranks);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const TopologyNode &x = a.nodes[NodeId(i)], &y = b.nodes[NodeId(i)];
    EXPECT_EQ(x.id, y.id);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.box, y.box);
    EXPECT_EQ(x.multicast, y.multicast);
    EXPECT_EQ(x.reduce, y.reduce);
    EXPECT_EQ(x.echo, y.echo);
    EXPECT_EQ(x.enabled, y.enabled);
    EXPECT_EQ(x.weight, y.weight);
  }
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    const TopologyLink &x = a.links[LinkId(i)], &y = b.links[LinkId(i)];
    EXPECT_EQ(x.src, y.src);
    EXPECT_EQ(x.dst, y.dst);
    EXPECT_EQ(x.bandwidth, y.bandwidth);
    EXPECT_EQ(x.count, y.count);
    EXPECT_EQ(x.latency, y.latency);
    EXPECT_EQ(x.full_duplex, y.full_duplex);
    EXPECT_EQ(x.enabled, y.enabled);
    EXPECT_EQ(x.kind, y.kind);
  }
}

TEST(TopologyText, FlatDocumentIsTheSameTopology) {
  const Topology topology = parse_valid(kFlat);
  const std::string text = to_topology_json(flat_document(topology));
  expect_same(parse_valid(text), topology);
  EXPECT_THAT(text, HasSubstr("\"rank_order\": [\n    \"b\",\n    \"a[0-1]\"\n  ]"));
  EXPECT_THAT(text, HasSubstr("\"bandwidth\": \"1000/7\", \"count\": 3"));
  EXPECT_THAT(text, HasSubstr("\"bandwidth\": 370.8"));
}

TEST(TopologyText, CablesStay) {
  const auto file = [](const std::string& link) {
    return flat_file(R"({"id":"g[0-1]","type":"compute"})",
                     R"({"src":"g0","dst":"g1",)" + link + "}");
  };
  const Topology topology = parse_valid(file(R"("bandwidth":25,"count":12,"derate":"1/3")"));
  EXPECT_EQ(topology.links[LinkId(0)].count, 12);
  EXPECT_EQ(topology.links[LinkId(0)].bandwidth, Ratio(100));
  const std::string text = to_topology_json(flat_document(topology));
  EXPECT_THAT(text, HasSubstr(R"("bandwidth": "25/3", "count": 12)"));
  expect_same(parse_valid(text), topology);
  // A third of what is as fine as a file can be: one cable of the same sum.
  Topology fine = topology;
  fine.links[LinkId(0)].bandwidth = Ratio(1, 9'000'000'000'000'000'001);
  const Topology again = parse_valid(to_topology_json(flat_document(fine)));
  EXPECT_EQ(again.links[LinkId(0)].count, 1);
  EXPECT_EQ(again.links[LinkId(0)].bandwidth, fine.links[LinkId(0)].bandwidth);
}

TEST(TopologyText, FlatDocumentsOfAllBundledFiles) {
  for (const auto& file : json_files("topologies")) {
    const Topology topology = parse_valid(read_file(file));
    expect_same(parse_valid(to_topology_json(flat_document(topology))), topology);
  }
}

TEST(TopologyText, BytesThatAreNoUtf8AreReplaced) {
  TopologyDocument document = two_boxes();
  document.name = "\xff";
  EXPECT_EQ(parse_valid(to_topology_json(document)).name, "\xef\xbf\xbd");
}

TEST(ExactText, DecimalsWhereTheyAreExact) {
  EXPECT_EQ(exact_text(25), "25");
  EXPECT_EQ(exact_text(0), "0");
  EXPECT_EQ(exact_text(Ratio(1854, 5)), "370.8");
  EXPECT_EQ(exact_text(Ratio(1, 8)), "0.125");
  // More digits than the parser takes of a decimal.
  const Ratio fine(138597, std::int64_t{1} << 19);  // 0.2643527984619140625
  EXPECT_EQ(parse_ratio(exact_text(fine)), fine);
  EXPECT_EQ(exact_text(fine), fine.to_string());
  EXPECT_EQ(exact_text(Ratio(-1, 20)), "-0.05");
  EXPECT_EQ(exact_text(Ratio(1000, 3)), "1000/3");
  // 2^-62 has more digits than 64 bits hold.
  EXPECT_EQ(exact_text(Ratio(1, std::int64_t{1} << 62)), "1/4611686018427387904");
}

TEST(CompressIds, RangesInOrder) {
  EXPECT_THAT(compress_ids({"gpu0", "gpu1", "gpu2", "nic4"}), ElementsAre("gpu[0-2]", "nic4"));
  EXPECT_THAT(compress_ids({"g2", "g1", "g0", "g5", "g6"}), ElementsAre("g[2,1,0,5-6]"));
  EXPECT_THAT(compress_ids({"n00", "n01", "a", "7", "8"}), ElementsAre("n00", "n01", "a", "[7-8]"));
  EXPECT_THAT(compress_ids({"b0/g0", "b0/g1", "b1/g0"}), ElementsAre("b0/g[0-1]", "b1/g0"));
  EXPECT_THAT(compress_ids({}), IsEmpty());
}

TEST(CompressIds, ExpandToWhatTheyCameFrom) {
  const std::vector<std::string> ids = {"x9", "x10", "x11", "x3", "y", "y0", "y1", "01", "2"};
  std::vector<std::string> again;
  for (const std::string& list : compress_ids(ids)) {
    const auto parsed = topology::parse_host_list(list);
    ASSERT_TRUE(parsed) << list;
    for (std::string& id : parsed->expand()) again.push_back(std::move(id));
  }
  EXPECT_EQ(again, ids);
}

TEST(IdRange, OneIdNeedsNoBrackets) {
  EXPECT_EQ(id_range("gpu", 8), "gpu[0-7]");
  EXPECT_EQ(id_range("gpu", 1), "gpu0");
}

}  // namespace
}  // namespace forestcoll::testing
