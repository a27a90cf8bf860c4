// What a valid file means, key by key.
#include "forestcoll/topology_text.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll {
namespace {

using ::testing::ElementsAre;
using testing::flat_file;
using ::testing::IsEmpty;
using testing::parse_valid;

const std::string kGpus = R"({"id":"gpu[0-1]","type":"compute"})";
const std::string kSwitched = kGpus + R"(,{"id":"sw","type":"switch"})";
const std::string kToSwitch = R"({"src":"gpu[0-1]","dst":"sw","bandwidth":25})";

std::vector<std::string> ids(const Topology& topology) {
  std::vector<std::string> list;
  for (const TopologyNode& node : topology.nodes) list.push_back(node.id);
  return list;
}

std::vector<std::string> rank_ids(const Topology& topology) {
  std::vector<std::string> list;
  for (const NodeId node : topology.ranks) list.push_back(topology.nodes[node].id);
  return list;
}

std::vector<std::string> links(const Topology& topology) {
  std::vector<std::string> list;
  for (const TopologyLink& link : topology.links) {
    list.push_back(topology.nodes[link.src].id + (link.full_duplex ? "=" : ">") +
                   topology.nodes[link.dst].id + " " + link.bandwidth.to_string());
  }
  return list;
}

TEST(ParseTopology, TheExampleOfTheFormat) {
  const Topology topology = parse_valid(R"({
    "format": "forestcoll-topology", "version": 1, "name": "2x DGX A100",
    "description": "two boxes", "metadata": { "any": [1, { "thing": null }] }, "x-note": 1,
    "units": { "bandwidth": "GB/s", "latency": "us" },
    "templates": { "dgx-a100": {
      "nodes": [ { "id": "gpu[0-7]", "type": "compute" },
                 { "id": "nvsw",     "type": "switch" },
                 { "id": "nic[0-7]", "type": "switch" } ],
      "links": [ { "src": "gpu[0-7]", "dst": "nvsw", "bandwidth": 25, "count": 12, "latency": 0.7,
                   "kind": "nvlink" },
                 { "src": "gpu[0-7]", "dst": "nic[0-7]", "pair": "zip", "bandwidth": 25,
                   "latency": 0.5, "kind": "pcie" } ] } },
    "boxes": [ { "id": "box[0-1]", "template": "dgx-a100" } ],
    "nodes": [ { "id": "ib[0-1]", "type": "switch" } ],
    "links": [ { "src": "box[0-1]/nic[0,2,4,6]", "dst": "ib0", "bandwidth": "200 Gb/s",
                 "latency": 1.5, "kind": "ib" },
               { "src": "box[0-1]/nic[1,3,5,7]", "dst": "ib1", "bandwidth": "200 Gb/s",
                 "latency": 1.5, "kind": "ib" } ],
    "rank_order": [ "box[0-1]/gpu[0-7]" ] })");
  EXPECT_EQ(topology.name, "2x DGX A100");
  EXPECT_EQ(topology.description, "two boxes");
  EXPECT_EQ(topology.nodes.size(), 2U * 17 + 2);
  EXPECT_EQ(topology.links.size(), 2U * 16 + 16);
  ASSERT_EQ(topology.ranks.size(), 16U);
  EXPECT_EQ(topology.nodes[topology.ranks[11]].id, "box1/gpu3");
  EXPECT_EQ(topology.nodes[topology.ranks[11]].box, "box1");
  const TopologyLink& nvlink = topology.links[LinkId(0)];
  EXPECT_EQ(nvlink.bandwidth, Ratio(300));
  EXPECT_EQ(nvlink.latency, Ratio(7, 10));
  EXPECT_EQ(nvlink.kind, "nvlink");
  const TopologyLink& last = topology.links[LinkId(47)];
  EXPECT_EQ(topology.nodes[last.src].id, "box1/nic7");
  EXPECT_EQ(topology.nodes[last.dst].id, "ib1");
  EXPECT_EQ(last.bandwidth, Ratio(25));
}

TEST(ParseTopology, BandwidthsAreExact) {
  const auto bandwidth = [](const std::string& link_keys, const std::string& more = "") {
    const Topology topology =
        parse_valid(flat_file(kGpus, R"({"src":"gpu0","dst":"gpu1",)" + link_keys + "}", more));
    return topology.links.empty() ? Ratio(0) : topology.links[LinkId(0)].bandwidth;
  };
  EXPECT_EQ(bandwidth(R"("bandwidth":370.8)"), Ratio(1854, 5));
  EXPECT_EQ(bandwidth(R"("bandwidth":1e3)"), Ratio(1000));
  EXPECT_EQ(bandwidth(R"("bandwidth":"1000/3")"), Ratio(1000, 3));
  EXPECT_EQ(bandwidth(R"("bandwidth":"200 Gb/s")"), Ratio(25));
  EXPECT_EQ(bandwidth(R"("bandwidth":0.1,"count":3)"), Ratio(3, 10));
  EXPECT_EQ(bandwidth(R"("bandwidth":50,"count":4,"derate":0.75)"), Ratio(150));
  EXPECT_EQ(bandwidth(R"("bandwidth":50,"derate":"1/3")"), Ratio(50, 3));
  EXPECT_EQ(bandwidth(R"("bandwidth":400)", R"(,"units":{"bandwidth":"Gb/s"})"), Ratio(50));
  EXPECT_EQ(bandwidth(R"("bandwidth":"25 GB/s")", R"(,"units":{"bandwidth":"Gb/s"})"), Ratio(25));
  EXPECT_EQ(bandwidth(R"("bandwidth":1)", R"(,"units":{"bandwidth":"GiB/s"})"),
            Ratio(std::int64_t{1} << 30, 1'000'000'000));
}

TEST(ParseTopology, LatenciesAreInMicroseconds) {
  const auto latency = [](const std::string& value, const std::string& more = "") {
    const Topology topology = parse_valid(
        flat_file(kGpus, R"({"src":"gpu0","dst":"gpu1","bandwidth":1)" + value + "}", more));
    return topology.links.empty() ? Ratio(-1) : topology.links[LinkId(0)].latency;
  };
  EXPECT_EQ(latency(""), std::nullopt);
  EXPECT_EQ(latency(R"(,"latency":0)"), Ratio(0));
  EXPECT_EQ(latency(R"(,"latency":0.7)"), Ratio(7, 10));
  EXPECT_EQ(latency(R"(,"latency":700)", R"(,"units":{"latency":"ns"})"), Ratio(7, 10));
  EXPECT_EQ(latency(R"(,"latency":"2 ms")"), Ratio(2000));
}

TEST(ParseTopology, PairsAreProductsUnlessZipped) {
  const std::string nodes = R"({"id":"a[0-1]","type":"compute"},{"id":"b[0-1]","type":"compute"})";
  EXPECT_THAT(
      links(parse_valid(flat_file(nodes, R"({"src":"a[0-1]","dst":"b[0-1]","bandwidth":1})"))),
      ElementsAre("a0=b0 1", "a0=b1 1", "a1=b0 1", "a1=b1 1"));
  EXPECT_THAT(links(parse_valid(
                  flat_file(nodes, R"({"src":"a[0-1]","dst":"b[1,0]","bandwidth":1,"pair":"zip"},)"
                                   R"({"src":"a0","dst":"a1","bandwidth":2,"pair":"product"},)"
                                   R"({"src":"b0","dst":"b1","bandwidth":3,"duplex":"full"},)"
                                   R"({"src":"a0","dst":"b0","bandwidth":4,"duplex":"simplex"})"))),
              ElementsAre("a0=b1 1", "a1=b0 1", "a0=a1 2", "b0=b1 3", "a0>b0 4"));
}

TEST(ParseTopology, NodesKeepWhatTheFileSays) {
  const Topology topology = parse_valid(
      flat_file(R"({"id":"gpu[0-1]","type":"compute","box":"left","weight":"1/3"},)"
                R"({"id":"gpu2","type":"compute","enabled":false,"weight":0},)"
                R"({"id":"sw","type":"switch","multicast":true,"reduce":true,"x-asic":"T"})",
                kToSwitch));
  EXPECT_THAT(ids(topology), ElementsAre("gpu0", "gpu1", "gpu2", "sw"));
  EXPECT_EQ(topology.nodes[NodeId(1)].box, "left");
  EXPECT_EQ(topology.nodes[NodeId(1)].weight, Ratio(1, 3));
  EXPECT_FALSE(topology.nodes[NodeId(1)].multicast);
  EXPECT_FALSE(topology.nodes[NodeId(2)].enabled);
  EXPECT_EQ(topology.nodes[NodeId(2)].weight, Ratio(0));
  EXPECT_TRUE(topology.nodes[NodeId(3)].multicast);
  EXPECT_TRUE(topology.nodes[NodeId(3)].reduce);
  EXPECT_EQ(topology.nodes[NodeId(3)].type, NodeType::switch_node);
  EXPECT_THAT(rank_ids(topology), ElementsAre("gpu0", "gpu1"));
}

TEST(ParseTopology, ARelayIsNoRank) {
  const std::string nodes = R"({"id":"gpu[0-1]","type":"compute"},{"id":"gpu2","type":"relay"},)"
                            R"({"id":"sw","type":"switch"})";
  const Topology topology = parse_valid(flat_file(nodes, kToSwitch));
  EXPECT_EQ(topology.nodes[NodeId(2)].type, NodeType::relay);
  EXPECT_TRUE(topology.nodes[NodeId(2)].enabled);
  EXPECT_THAT(rank_ids(topology), ElementsAre("gpu0", "gpu1"));
  const Topology again = parse_valid(to_topology_json(flat_document(topology)));
  EXPECT_EQ(again.nodes[NodeId(2)].type, NodeType::relay);
}

TEST(ParseTopology, SwitchesThatCopyOrCombineEchoUnlessTheFileSaysOtherwise) {
  const auto echo = [](const std::string& keys) {
    const Topology topology = parse_valid(
        flat_file(R"({"id":"gpu[0-1]","type":"compute"},{"id":"sw","type":"switch")" + keys + "}",
                  kToSwitch));
    return topology.nodes[NodeId(2)].echo;
  };
  EXPECT_TRUE(echo(R"(,"multicast":true)"));
  EXPECT_TRUE(echo(R"(,"reduce":true,"echo":true)"));
  EXPECT_FALSE(echo(R"(,"reduce":true,"echo":false)"));
  EXPECT_FALSE(echo(R"(,"multicast":true,"echo":false)"));
}

TEST(ParseTopology, AnEchoOfNothingIsIgnored) {
  const auto parsed = parse_topology(
      flat_file(R"({"id":"gpu[0-1]","type":"compute"},{"id":"sw","type":"switch","echo":false})",
                kToSwitch),
      "t.json");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->topology.nodes[NodeId(2)].echo);
  ASSERT_EQ(parsed->warnings.size(), 1U);
  EXPECT_EQ(parsed->warnings.front().code, Code::W06);
  EXPECT_EQ(parsed->warnings.front().where, "/nodes/1/echo");
}

TEST(ParseTopology, DisabledLinksStayInTheFile) {
  const Topology topology = parse_valid(flat_file(
      kSwitched, kToSwitch + R"(,{"src":"gpu0","dst":"gpu1","bandwidth":5,"enabled":false})"));
  ASSERT_EQ(topology.links.size(), 3U);
  EXPECT_TRUE(topology.links[LinkId(1)].enabled);
  EXPECT_FALSE(topology.links[LinkId(2)].enabled);
}

TEST(ParseTopology, RanksAreInOrderOfAppearanceOrAsListed) {
  EXPECT_THAT(rank_ids(parse_valid(flat_file(kSwitched, kToSwitch))), ElementsAre("gpu0", "gpu1"));
  EXPECT_THAT(
      rank_ids(parse_valid(flat_file(kSwitched, kToSwitch, R"(,"rank_order":["gpu1","gpu0"])"))),
      ElementsAre("gpu1", "gpu0"));
  // A failed GPU may stay in the list.
  EXPECT_THAT(rank_ids(parse_valid(
                  flat_file(kSwitched + R"(,{"id":"gpu2","type":"compute","enabled":false})",
                            kToSwitch, R"(,"rank_order":["gpu[2,1,0]"])"))),
              ElementsAre("gpu1", "gpu0"));
}

TEST(ParseTopology, BoxesComeBeforeTheNodesOfTheTopLevel) {
  const Topology topology = parse_valid(R"({"format":"forestcoll-topology","version":1,
    "nodes":[{"id":"host","type":"compute","box":"h"}],
    "links":[{"src":"b[0-1]/g","dst":"host","bandwidth":1}],
    "templates":{"t":{"nodes":[{"id":"g","type":"compute"}]},"x-note":"unused"},
    "boxes":[{"id":"b[0-1]","template":"t"}]})");
  EXPECT_THAT(ids(topology), ElementsAre("b0/g", "b1/g", "host"));
  EXPECT_THAT(rank_ids(topology), ElementsAre("b0/g", "b1/g", "host"));
  EXPECT_EQ(topology.nodes[NodeId(2)].box, "h");
}

TEST(ParseTopology, AnEmptyTemplateMakesEmptyBoxes) {
  const Topology topology = parse_valid(R"({"format":"forestcoll-topology","version":1,
    "templates":{"t":{"nodes":[]}}, "boxes":[{"id":"b[0-9]","template":"t"}],
    "nodes":[{"id":"gpu[0-1]","type":"compute"}],
    "links":[{"src":"gpu0","dst":"gpu1","bandwidth":1}]})");
  EXPECT_EQ(topology.nodes.size(), 2U);
}

TEST(ParseTopology, QuantizeRoundsToTheNearestPositiveMultiple) {
  TopologyOptions options;
  options.quantize = Ratio(1, 2);
  const auto parsed =
      parse_topology(flat_file(kSwitched, R"({"src":"gpu0","dst":"sw","bandwidth":10.3},)"
                                          R"({"src":"gpu1","dst":"sw","bandwidth":10.25},)"
                                          R"({"src":"gpu0","dst":"gpu1","bandwidth":0.1},)"
                                          R"({"src":"gpu1","dst":"gpu0","bandwidth":7})"),
                     "test.json", options);
  ASSERT_TRUE(parsed);
  EXPECT_THAT(links(parsed->topology),
              ElementsAre("gpu0=sw 21/2", "gpu1=sw 21/2", "gpu0=gpu1 1/2", "gpu1=gpu0 7"));
  EXPECT_EQ(parsed->quantize_change, Ratio(4));
}

TEST(ParseTopology, BitsASecondMayBeWrittenWithoutASlash) {
  const Topology topology = testing::parse_valid(
      flat_file(kGpus, R"({"src":"gpu0","dst":"gpu1","bandwidth":"100Gbps"})"));
  EXPECT_EQ(topology.links[LinkId(0)].bandwidth, Ratio(25, 2));
}

// The sum is what is rounded.
TEST(ParseTopology, QuantizeKeepsTheCables) {
  TopologyOptions options;
  options.quantize = Ratio(7);
  const auto parsed =
      parse_topology(flat_file(kGpus, R"({"src":"gpu0","dst":"gpu1","bandwidth":25,"count":12})"),
                     "test.json", options);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->topology.links[LinkId(0)].count, 12);
  EXPECT_EQ(parsed->topology.links[LinkId(0)].bandwidth, Ratio(301));
}

TEST(ParseTopology, QuantizeMustBePositiveAndNotAbsurd) {
  for (const Ratio& step : {Ratio(0), Ratio(-1), Ratio(1, 9'000'000'000'000'000'000)}) {
    TopologyOptions options;
    options.quantize = step;
    const std::string links_text = R"({"src":"gpu0","dst":"gpu1","bandwidth":1000.7})";
    EXPECT_THAT(testing::codes_of(testing::findings_of(flat_file(kGpus, links_text), options)),
                ElementsAre("E05"));
  }
}

TEST(ParseTopology, UnknownKeysAreErrorsWhenStrict) {
  const std::string text = flat_file(R"({"id":"gpu[0-1]","type":"compute","colour":1})",
                                     R"({"src":"gpu0","dst":"gpu1","bandwidth":1,"x-cable":7})");
  const auto lenient = parse_topology(text, "test.json");
  ASSERT_TRUE(lenient);
  ASSERT_EQ(lenient->warnings.size(), 1U);
  EXPECT_EQ(lenient->warnings[0].severity, Severity::warning);
  TopologyOptions options;
  options.strict = true;
  const auto strict = parse_topology(text, "test.json", options);
  ASSERT_FALSE(strict);
  ASSERT_EQ(strict.errors().size(), 1U);
  EXPECT_EQ(strict.errors()[0].severity, Severity::error);
  EXPECT_EQ(strict.errors()[0].code, Code::W06);
}

TEST(ParseTopology, SizeLimitsAreExact) {
  const std::string text = flat_file(kSwitched, kToSwitch);
  TopologyOptions options;
  options.max_nodes = 3;
  EXPECT_THAT(testing::findings_of(text, options), IsEmpty());
  options.max_nodes = 2;
  EXPECT_THAT(testing::codes_of(testing::findings_of(text, options)),
              ElementsAre("E15 /nodes/1/id"));
}

TEST(ParseTopology, LinksAreLimitedToSixteenPerNode) {
  const auto text = [](int count) {
    return flat_file(
        kGpus + R"(,{"id":"s[0-)" + std::to_string(count - 1) + R"(]","type":"switch"})",
        R"({"src":"gpu[0-1]","dst":"s[0-)" + std::to_string(count - 1) + R"(]","bandwidth":1})" +
            R"(,{"src":"gpu0","dst":"gpu1","bandwidth":1})");
  };
  TopologyOptions options;
  options.max_nodes = 6;
  EXPECT_THAT(testing::findings_of(text(4), options), IsEmpty());
  // 6 nodes may have 96 links; the entry alone stands for one more.
  const std::string many = flat_file(
      kGpus, R"({"src":"gpu[)" + std::string("0") + [] {
        std::string again;
        for (int i = 0; i < 96; ++i) again += ",0";
        return again;
      }() + R"(]","dst":"gpu1","bandwidth":1})");
  EXPECT_THAT(testing::codes_of(testing::findings_of(many, options)), ElementsAre("E15 /links/0"));
}

TEST(ParseTopology, FindingsOfOneKindAreCapped) {
  std::string links_text = kToSwitch;
  for (int i = 0; i < 300; ++i) links_text += R"(,{"src":"gpu0","dst":"nowhere","bandwidth":1})";
  const auto findings = testing::findings_of(flat_file(kSwitched, links_text));
  ASSERT_EQ(findings.size(), 101U);
  EXPECT_EQ(findings.back().message, "and 200 more of this kind");
}

TEST(ParseTopology, SixteenThousandGpus) {
  const std::string text = R"({"format":"forestcoll-topology","version":1,
    "templates":{"dgx":{"nodes":[{"id":"gpu[0-7]","type":"compute"},{"id":"nvsw","type":"switch"},
                                 {"id":"nic[0-7]","type":"switch"}],
                        "links":[{"src":"gpu[0-7]","dst":"nvsw","bandwidth":300},
                                 {"src":"gpu[0-7]","dst":"nic[0-7]","pair":"zip","bandwidth":25}]}},
    "boxes":[{"id":"box[0-2047]","template":"dgx"}],
    "nodes":[{"id":"ib","type":"switch"}],
    "links":[{"src":"box[0-2047]/nic[0-7]","dst":"ib","bandwidth":25}]})";
  const Topology topology = parse_valid(text);
  EXPECT_EQ(topology.ranks.size(), 16'384U);
  EXPECT_EQ(topology.links.size(), 2048U * 24);
}

// Nobody who gives a list of links wants to hear of commas in JSON.
TEST(ParseTopology, TextThatIsNoKnownFormatIsNotTakenForJson) {
  for (const std::string text : {"a,b,10\nb,c,10\n", "nodes:\n  - gpu0\n", "\n 12 x"}) {
    const auto parsed = parse_topology(text, "f", {});
    ASSERT_FALSE(parsed);
    const std::string said = to_string(parsed.errors().front());
    EXPECT_THAT(said, ::testing::AllOf(::testing::HasSubstr("[E01]"),
                                       ::testing::HasSubstr("src,dst,bandwidth"),
                                       ::testing::HasSubstr("SwitchName=")));
    EXPECT_THAT(said, ::testing::Not(::testing::HasSubstr("NaN"))) << said;
  }
}

}  // namespace
}  // namespace forestcoll
