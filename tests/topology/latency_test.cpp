// Typical latencies: by kind and place, the same for equal machines however they come, and never in
// the place of one that is written.
#include "forestcoll/latency.hpp"

#include <map>
#include <utility>

#include "emit/topology_hash.hpp"
#include "forestcoll/convert.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/import.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

// "0.7" of the link between two nodes.
std::string between(const Topology& topology, const std::string& a, const std::string& b) {
  const LinkLatencies latencies = link_latencies(topology);
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const TopologyLink& link = topology.links[LinkId(i)];
    const std::string &src = topology.nodes[link.src].id, &dst = topology.nodes[link.dst].id;
    if ((src == a && dst == b) || (src == b && dst == a)) {
      return exact_text(latencies.us[LinkId(i)]);
    }
  }
  return "no link";
}

// Two nodes and a link of a kind.
std::string of_pair(const std::string& kind) {
  return between(
      parse_valid(flat_file(R"({"id":"g[0-1]","type":"compute"})",
                            R"({"src":"g0","dst":"g1","bandwidth":1,"kind":")" + kind + R"("})")),
      "g0", "g1");
}

// GPUs on NVSwitches and, by NICs, on leaves of this kind, which spines join.
Topology leaf_spine(const std::string& kind, bool spines = true, bool labels = true) {
  const auto kind_of = [&](const std::string& label) {
    return labels ? R"(,"kind":")" + label + R"("})" : std::string("}");
  };
  return parse_valid(
      R"({"format":"forestcoll-topology","version":1,"templates":{"t":{"nodes":[
        {"id":"gpu[0-1]","type":"compute"},{"id":"nvsw","type":"switch"},
        {"id":"nic[0-1]","type":"switch"}],"links":[
        {"src":"gpu[0-1]","dst":"nvsw","bandwidth":300)" +
      kind_of("nvlink4") + R"(,{"src":"gpu[0-1]","dst":"nic[0-1]","pair":"zip","bandwidth":50)" +
      kind_of("PCIe 5.0") + R"(]}},"boxes":[{"id":"box[0-3]","template":"t"}],"nodes":[
        {"id":"leaf[0-1]","type":"switch"})" +
      (spines ? R"(,{"id":"spine[0-1]","type":"switch"})" : "") + R"(],"links":[
        {"src":"box[0-3]/nic0","dst":"leaf0","bandwidth":50)" +
      kind_of(kind) + R"(,{"src":"box[0-3]/nic1","dst":"leaf1","bandwidth":50)" + kind_of(kind) +
      (spines ? R"(,{"src":"leaf[0-1]","dst":"spine[0-1]","bandwidth":50)" + kind_of("uplink")
              : "") +
      "]}");
}

// As if its file said nothing of latencies.
Topology without_latencies(Topology topology) {
  for (TopologyLink& link : topology.links) link.latency.reset();
  return topology;
}

TEST(Latency, IsTypicalOfTheKind) {
  EXPECT_EQ(of_pair("nvlink"), "0.7");
  EXPECT_EQ(of_pair("NVLink4"), "0.7");
  EXPECT_EQ(of_pair("xgmi"), "0.5");
  EXPECT_EQ(of_pair("pcie"), "0.5");
  EXPECT_EQ(of_pair("upi"), "0.25");
  for (const char* none : {"", "row", "cable", "dim0"}) EXPECT_EQ(of_pair(none), "0.7") << none;
  // No switch, but a NIC with its PCIe at either end.
  for (const char* network : {"ib", "ib-ndr", "roce", "ethernet", "200GbE", "nic"}) {
    EXPECT_EQ(of_pair(network), "2.5") << network;
  }
}

TEST(Latency, OfANetworkDependsOnTheSwitches) {
  const Topology tree = leaf_spine("ib");
  EXPECT_EQ(between(tree, "box0/gpu0", "box0/nvsw"), "0.7");
  EXPECT_EQ(between(tree, "box0/gpu0", "box0/nic0"), "0.5");
  EXPECT_EQ(between(tree, "box0/nic0", "leaf0"), "1");
  EXPECT_EQ(between(tree, "leaf0", "spine1"), "0.5");
  EXPECT_EQ(between(leaf_spine("ib", false), "box0/nic0", "leaf0"), "1.5");
  const Topology ethernet = leaf_spine("roce");
  EXPECT_EQ(between(ethernet, "box0/nic0", "leaf0"), "1.2");
  EXPECT_EQ(between(ethernet, "leaf0", "spine1"), "0.9");
  EXPECT_EQ(between(leaf_spine("roce", false), "box0/nic0", "leaf0"), "2.1");
}

// A single switch stands for leaf, spine and leaf.
TEST(Latency, OfASingleSwitchIsThatOfTheTreeThatItStandsFor) {
  for (const char* kind : {"ib", "ethernet"}) {
    const auto of = [](const Topology& topology, const std::string& a, const std::string& b) {
      return *parse_ratio(between(topology, a, b));
    };
    const Topology tree = leaf_spine(kind), one = leaf_spine(kind, false);
    EXPECT_EQ(of(tree, "box0/nic0", "leaf0") + of(tree, "leaf0", "spine0"),
              of(one, "box0/nic0", "leaf0"))
        << kind;
  }
}

TEST(Latency, WithoutLabelsIsThatWithThem) {
  for (const bool spines : {false, true}) {
    const Topology with = leaf_spine("ib", spines), without = leaf_spine("ib", spines, false);
    EXPECT_EQ(link_latencies(with).us, link_latencies(without).us) << spines;
  }
}

TEST(Latency, OfAGpuStraightOnANetworkHasThePcieThatIsNotThere) {
  for (const char* kind : {R"(,"kind":"ib")", ""}) {
    const Topology plain = parse_valid(flat_file(
        R"({"id":"box[0-2]/gpu[0-3]","type":"compute"},{"id":"box[0-2]/nvsw","type":"switch"},
           {"id":"ib","type":"switch"})",
        R"({"src":"box0/gpu[0-3]","dst":"box0/nvsw","bandwidth":300},
           {"src":"box1/gpu[0-3]","dst":"box1/nvsw","bandwidth":300},
           {"src":"box2/gpu[0-3]","dst":"box2/nvsw","bandwidth":300},
           {"src":"box[0-2]/gpu[0-3]","dst":"ib","bandwidth":25)" +
            std::string(kind) + "}"));
    EXPECT_EQ(between(plain, "box0/gpu0", "box0/nvsw"), "0.7");
    EXPECT_EQ(between(plain, "box0/gpu0", "ib"), "2");
  }
}

TEST(Latency, ABridgeDividesThatOfPcie) {
  const Topology bridged = parse_valid(flat_file(
      R"({"id":"g[0-1]","type":"compute"},{"id":"bridge[0-1]","type":"switch"},
         {"id":"nic[0-1]","type":"switch"},{"id":"ib","type":"switch"})",
      R"({"src":"g[0-1]","dst":"bridge[0-1]","pair":"zip","bandwidth":50,"kind":"pcie"},
         {"src":"bridge[0-1]","dst":"nic[0-1]","pair":"zip","bandwidth":50,"kind":"pcie"},
         {"src":"bridge0","dst":"bridge1","bandwidth":50,"kind":"cpu"},
         {"src":"nic[0-1]","dst":"ib","bandwidth":50,"kind":"nic"})"));
  EXPECT_EQ(between(bridged, "g0", "bridge0"), "0.25");
  EXPECT_EQ(between(bridged, "bridge0", "nic0"), "0.25");
  EXPECT_EQ(between(bridged, "bridge0", "bridge1"), "0.25");
  EXPECT_EQ(between(bridged, "nic0", "ib"), "1.5");
}

TEST(Latency, OneThatIsWrittenStaysEvenIfItIsZero) {
  const std::string nodes = R"({"id":"g[0-2]","type":"compute"})";
  const std::string links = R"({"src":"g0","dst":"g1","bandwidth":1,"kind":"ib","latency":0},
                               {"src":"g1","dst":"g2","bandwidth":1,"kind":"ib","latency":"7 us"},
                               {"src":"g0","dst":"g2","bandwidth":1,"kind":"xgmi"})";
  const auto check = [](const Topology& topology) {
    EXPECT_EQ(between(topology, "g0", "g1"), "0");
    EXPECT_EQ(between(topology, "g1", "g2"), "7");
    EXPECT_EQ(between(topology, "g0", "g2"), "0.5");
  };
  const Topology topology = parse_valid(flat_file(nodes, links));
  check(topology);
  // There and back in every format.
  check(parse_valid(convert(topology, GraphFormat::topology).text));
  for (const auto& [format, source] :
       {std::pair(GraphFormat::networkx, Source::node_link),
        std::pair(GraphFormat::json_graph, Source::json_graph),
        std::pair(GraphFormat::graphml, Source::graphml), std::pair(GraphFormat::dot, Source::dot),
        std::pair(GraphFormat::csv, Source::csv)}) {
    const auto back = import_topology(source, convert(topology, format).text, "there-and-back");
    ASSERT_TRUE(back);
    check(parse_valid(to_topology_json(back->document)));
  }
}

// What identifies a fabric is what its file says.
TEST(Latency, TypicalOnesAreInNoFileAndNoHash) {
  const Topology topology = leaf_spine("ib");
  Topology zero = topology;
  for (TopologyLink& link : zero.links) link.latency = Ratio(0);
  EXPECT_EQ(emit::topology_hash(topology), emit::topology_hash(zero));
  for (const GraphFormatInfo& info : graph_formats()) {
    const std::string text = convert(topology, info.format).text;
    for (const char* value : {"0.7", "1.5"}) {
      EXPECT_THAT(text, ::testing::Not(HasSubstr(value))) << info.name;
    }
  }
}

TEST(Latency, CountsTheLinksThatHaveNone) {
  Topology topology = leaf_spine("ib");
  const auto typical_of = [](const Topology& of) {
    std::vector<std::string> all;
    for (const TypicalLatency& entry : link_latencies(of).typical) {
      all.push_back(entry.kind + " " + exact_text(entry.us) + " " + std::to_string(entry.links));
    }
    return all;
  };
  EXPECT_EQ(link_latencies(topology).links, 28U);
  EXPECT_THAT(typical_of(topology),
              ElementsAre("PCIe 5.0 0.5 8", "ib 1 8", "nvlink4 0.7 8", "uplink 0.5 4"));
  for (TopologyLink& link : topology.links) {
    if (link.kind == "ib") link.latency = Ratio(3);
    if (link.kind == "uplink") link.enabled = false;
  }
  EXPECT_EQ(link_latencies(topology).links, 24U);
  EXPECT_THAT(typical_of(topology), ElementsAre("PCIe 5.0 0.5 8", "nvlink4 0.7 8"));
}

TEST(Latency, AFailureChangesNone) {
  const Topology whole = leaf_spine("ib");
  for (const Failures& failures :
       {Failures{.drop = {"spine[0-1]"}}, Failures{.drop = {"kind=uplink"}},
        Failures{.drop = {"box0/nic0"}}, Failures{.ranks = "box[0-1]"},
        Failures{.members = "box0"}}) {
    const auto left = degrade(whole, failures);
    ASSERT_TRUE(left) << to_string(left.errors().front());
    EXPECT_EQ(link_latencies(left->topology).us, link_latencies(whole).us);
  }
}

// What `generate` writes is what is typical: equal machines are equally fast.
TEST(LatencyLong, GeneratedBoxesHaveTypicalOnes) {
  std::size_t fabrics = 0;
  for (const Generator& generator : generators()) {
    const auto has_fabric = [&](const GeneratorParameter& parameter) {
      return parameter.name == "fabric";
    };
    if (std::ranges::none_of(generator.parameters, has_fabric)) continue;
    for (const std::string fabric : {"single", "odd-even", "rail", "rail-spine", "fat-tree"}) {
      for (const std::string boxes : {"2", "5"}) {
        std::map<std::string, std::string> values = {{"fabric", fabric}};
        if (generator.name != "mixed") values["boxes"] = boxes;
        const auto document = generate(generator.name, values);
        if (!document) continue;  // mixed boxes have no leaves and spines
        ++fabrics;
        const Topology made = parse_valid(to_topology_json(*document));
        EXPECT_THAT(link_latencies(made).typical, IsEmpty()) << generator.name;
        EXPECT_EQ(link_latencies(made).us, link_latencies(without_latencies(made)).us)
            << generator.name << " " << fabric << " " << boxes;
      }
    }
  }
  EXPECT_GT(fabrics, 90U);
}

TEST(Latency, BundledBoxesHaveTypicalOnes) {
  for (const char* name :
       {"dgx-1-v100", "dgx-a100-x1", "dgx-a100-x2", "dgx-a100-x2-degraded", "dgx-a100-x4",
        "dgx-h100-x4-rail", "dgx-h100-x4-rail-2to1", "mixed-a100-h100"}) {
    const Topology bundled =
        parse_valid(read_file(source_path("topologies/" + std::string(name) + ".json")));
    EXPECT_THAT(link_latencies(bundled).typical, IsEmpty()) << name;
    EXPECT_EQ(link_latencies(bundled).us, link_latencies(without_latencies(bundled)).us) << name;
  }
}

// Networks of textbooks have those of the bundled files.
TEST(Latency, GeneratedNetworksHaveThoseOfTheBundledOnes) {
  for (const auto& [generator, file] :
       {std::pair("fat-tree", "fat-tree-4"), std::pair("dragonfly", "dragonfly-72")}) {
    const auto by_kind = [](const Topology& topology) {
      std::map<std::string, std::string> all;
      for (const TopologyLink& link : topology.links) all[link.kind] = exact_text(*link.latency);
      return all;
    };
    const auto document = generate(generator);
    ASSERT_TRUE(document);
    EXPECT_EQ(
        by_kind(parse_valid(to_topology_json(*document))),
        by_kind(parse_valid(read_file(source_path("topologies/" + std::string(file) + ".json")))));
  }
}

TEST(Latency, IsSetByKindWhateverTheFileSays) {
  Topology topology = leaf_spine("ib");
  topology.links[LinkId(std::size_t{0})].latency = Ratio(9);  // box0/gpu0 ~ box0/nvsw
  const auto set = degrade(topology, {.latency = {"nvlink4=300ns", "ib=2", "ib=5/2"}});
  ASSERT_TRUE(set);
  EXPECT_EQ(between(set->topology, "box0/gpu0", "box0/nvsw"), "0.3");
  EXPECT_EQ(between(set->topology, "box1/gpu0", "box1/nvsw"), "0.3");
  EXPECT_EQ(between(set->topology, "box0/nic0", "leaf0"), "2.5");
  EXPECT_EQ(between(set->topology, "leaf0", "spine0"), "0.5");
  EXPECT_THAT(set->changes, ElementsAre("links of kind nvlink4 take 0.3 us (8 links)",
                                        "links of kind ib take 2 us (8 links)",
                                        "links of kind ib take 2.5 us (8 links)"));
  const auto unlabelled = degrade(leaf_spine("ib", true, false), {.latency = {"=1"}});
  ASSERT_TRUE(unlabelled);
  EXPECT_EQ(between(unlabelled->topology, "box0/gpu0", "box0/nic0"), "1");
  // Links that are not in use have kinds, too.
  EXPECT_TRUE(degrade(topology, {.drop = {"kind=uplink"}, .latency = {"uplink=1"}}));
}

TEST(Latency, SaysWhatIsWrongWithOneThatIsSet) {
  const auto fails = [](const std::string& item) {
    const auto result = degrade(leaf_spine("ib"), {.latency = {item}});
    return result ? "nothing" : to_string(result.errors().front());
  };
  EXPECT_THAT(fails("infiniband=2"), HasSubstr("no link is of kind \"infiniband\" [D01]"));
  EXPECT_THAT(fails("infiniband=2"), HasSubstr("The kinds are PCIe 5.0, ib, nvlink4, uplink."));
  EXPECT_THAT(fails("=2"), HasSubstr("[D01]"));
  EXPECT_THAT(fails("ib"), HasSubstr("\"ib\" is no kind of links with a latency [D02]"));
  for (const char* wrong : {"ib=", "ib=-1", "ib=fast", "ib=2 GB/s"}) {
    EXPECT_THAT(fails(wrong), HasSubstr("expected a latency from 0 on")) << wrong;
    EXPECT_THAT(fails(wrong), HasSubstr("[D03]")) << wrong;
  }
}

}  // namespace
}  // namespace forestcoll::testing
