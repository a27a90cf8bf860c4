// Topologies in other formats: what is written, and that nothing is lost on the way there and back.
#include "forestcoll/convert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "forestcoll/generate.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology_text.hpp"
#include "support/valid.hpp"
#include "topology/format/quote_dot.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

const std::vector<std::pair<GraphFormat, Source>> kFormats = {
    {GraphFormat::networkx, Source::node_link},
    {GraphFormat::json_graph, Source::json_graph},
    {GraphFormat::graphml, Source::graphml},
    {GraphFormat::dot, Source::dot},
    {GraphFormat::csv, Source::csv}};

Topology there_and_back(const Topology& topology, GraphFormat format, Source source) {
  const std::string text = convert(topology, format).text;
  EXPECT_EQ(detect_source(text), source);
  const auto imported = test::valid(import_topology(source, text, "round-trip"));
  EXPECT_THAT(imported.report.guesses, IsEmpty());
  return parse_valid(to_topology_json(imported.document));
}

// By name, in rank order, and the digraph arc by arc.
void expect_same_fabric(const Topology& a, const Topology& b, const std::string& what) {
  const auto ranks = [](const Topology& t) {
    std::vector<std::tuple<std::string, std::string, std::string>> ids;
    for (const NodeId node : t.ranks) {
      ids.emplace_back(t.nodes[node].id, t.nodes[node].box, t.nodes[node].weight.to_string());
    }
    return ids;
  };
  EXPECT_EQ(ranks(a), ranks(b)) << what;
  const auto arcs = [](const Topology& t) {
    std::map<std::tuple<std::string, std::string, std::string>,
             std::tuple<Ratio, std::optional<Ratio>, std::int64_t>>
        sums;
    for (const TopologyLink& link : t.links) {
      if (!link.enabled || !t.nodes[link.src].enabled || !t.nodes[link.dst].enabled) continue;
      for (const bool back : {false, true}) {
        if (back && !link.full_duplex) continue;
        const std::string &src = t.nodes[back ? link.dst : link.src].id,
                          &dst = t.nodes[back ? link.src : link.dst].id;
        auto& [bandwidth, latency, cables] = sums[{src, dst, link.kind}];
        bandwidth = bandwidth + link.bandwidth;
        latency = link.latency;
        cables += link.count;
      }
    }
    return sums;
  };
  EXPECT_EQ(arcs(a), arcs(b)) << what;
}

TEST(ConvertLong, BundledFilesThereAndBack) {
  for (const auto& file : json_files("topologies")) {
    const Topology topology = parse_valid(read_file(file));
    if (topology.nodes.size() > 200) continue;
    for (const auto& [format, source] : kFormats) {
      expect_same_fabric(topology, there_and_back(topology, format, source), file.string());
    }
  }
}

TEST(Convert, GeneratedFilesThereAndBack) {
  for (const char* name : {"kautz", "mi300x", "jellyfish", "bcube"}) {
    const Topology topology = parse_valid(to_topology_json(*generate(name)));
    for (const auto& [format, source] : kFormats) {
      expect_same_fabric(topology, there_and_back(topology, format, source), name);
    }
  }
}

// Names that each format has to escape, fractions without a decimal, ranks out of order.
constexpr const char* kAwkward = R"({"format": "forestcoll-topology", "version": 1,
 "name": "a \"b\" <c> & d", "description": "one, two",
 "nodes": [{"id": "a \"q\"", "type": "compute", "box": "b,1"}, {"id": "<b>&", "type": "compute"},
           {"id": "c,d", "type": "compute"}, {"id": "gpu", "type": "compute", "enabled": false},
           {"id": "sw;", "type": "switch"}],
 "links": [{"src": "a \"q\"", "dst": "sw;", "bandwidth": "1000/3", "latency": "1/7", "kind": "k \""},
           {"src": "<b>&", "dst": "sw;", "bandwidth": 370.8, "latency": 0.125, "kind": "<&>"},
           {"src": "c,d", "dst": "sw;", "bandwidth": 0.1},
           {"src": "c,d", "dst": "<b>&", "bandwidth": 12345678901.2345678, "duplex": "simplex"},
           {"src": "c,d", "dst": "a \"q\"", "bandwidth": 1, "enabled": false}],
 "rank_order": ["c,d", "a \"q\"", "<b>&"]})";

// A name either comes back as it was, or is said to be lost; and what is written can be read.
TEST(Convert, NamesThatDoNotSurviveAreNamed) {
  std::size_t lost = 0;
  for (const std::string name :
       {R"(a)", R"(a\)", R"(a\\)", R"(a\\\)", R"(a\"b)", R"(a\\"b)", R"("a")", R"(a\n)", " a", "a ",
        "a\tb", "a\\\nb", "a\nb", "<a&b>", "é", "subgraph", "a -- b"}) {
    Topology topology = parse_valid(kAwkward);
    topology.description = name;
    // All the others are on one line.
    if (name.find_first_of("\t\n") == std::string::npos) {
      topology.name = name;
      topology.nodes[NodeId(0)].id = name;
      topology.nodes[NodeId(0)].box = name;
      topology.links[LinkId(0)].kind = name;
    }
    for (const auto& [format, source] : kFormats) {
      const Converted converted = convert(topology, format);
      const auto imported = import_topology(source, converted.text, "round-trip");
      ASSERT_TRUE(imported) << name << " " << to_string(imported.errors().front());
      const Topology again = parse_valid(to_topology_json(imported->document));
      const auto names = [](const Topology& t) {
        std::set<std::string> all = {t.name, t.description};
        for (const TopologyNode& node : t.nodes) {
          if (node.enabled) all.insert({node.id, node.box});
        }
        for (const TopologyLink& link : t.links) {
          if (link.enabled) all.insert(link.kind);
        }
        return all;
      };
      const bool same = names(again) == names(topology);
      // A disabled node and a disabled link are lost every time.
      EXPECT_EQ(same, converted.lost.size() == 2) << name << " " << info_of(source).name;
      lost += converted.lost.size() - 2;
      EXPECT_TRUE(import_topology(source, convert(again, format).text, "again")) << name;
    }
  }
  EXPECT_EQ(lost, 4U + 2U);  // in DOT, in GraphML
}

TEST(Convert, AwkwardNamesAndNumbersThereAndBack) {
  const Topology topology = parse_valid(kAwkward);
  for (const auto& [format, source] : kFormats) {
    expect_same_fabric(topology, there_and_back(topology, format, source),
                       std::to_string(static_cast<int>(format)));
  }
}

// The bandwidth is the whole link's, for readers who know no cables.
TEST(Convert, CablesStayBesideTheirSum) {
  const Topology topology = parse_valid(read_file(source_path("topologies/dgx-a100-x2.json")));
  const nlohmann::json graph =
      nlohmann::json::parse(convert(topology, GraphFormat::networkx).text)["edges"];
  EXPECT_EQ(graph[0]["bandwidth"], 300);
  EXPECT_EQ(graph[0]["cables"], 12);
  for (const auto& [format, source] : kFormats) {
    const Topology again = there_and_back(topology, format, source);
    expect_same_fabric(topology, again, std::string(info_of(source).name));
    const auto bundles = std::ranges::count_if(
        again.links, [](const TopologyLink& link) { return link.count == 12; });
    EXPECT_EQ(bundles, 16) << info_of(source).name;
  }
  EXPECT_THAT(convert(topology, GraphFormat::csv).text, HasSubstr(",cables,"));
  const Topology single = parse_valid(to_topology_json(*generate("ring")));
  EXPECT_THAT(convert(single, GraphFormat::csv).text, Not(HasSubstr("cables")));
}

// Numbers stay as they are written, whatever a double would make of them.
TEST(Convert, MetadataStaysInOurOwnFormat) {
  const std::string value = R"({
    "source": "a \"data sheet\"",
    "figures": [1.10, 12345678901234567890, -0e1, null, true, {"a": {}, "b": []}]
  })";
  const std::string file = R"({"format":"forestcoll-topology","version":1,"metadata":)" + value +
                           R"(,"nodes":[{"id":"g[0-1]","type":"compute"}],
                             "links":[{"src":"g0","dst":"g1","bandwidth":1}]})";
  EXPECT_EQ(metadata_of(file).metadata, value);
  const Topology topology = parse_valid(file);
  const Converted same = convert(topology, GraphFormat::topology, metadata_of(file));
  EXPECT_THAT(same.lost, IsEmpty());
  EXPECT_EQ(metadata_of(same.text).metadata, value);
  EXPECT_EQ(parse_valid(same.text).links.size(), 1U);
  for (const auto& [format, source] : kFormats) {
    EXPECT_THAT(convert(topology, format, metadata_of(file)).lost, ElementsAre("the metadata"));
    EXPECT_THAT(convert(topology, format).lost, IsEmpty());
  }
  for (const auto& [text, found] : {std::pair("{}", ""),
                                    {"{\"metadata\": {}}", "{}"},
                                    {"{\"metadata\": 3}", "3"},
                                    {"{\"metadata\": [1,2]}", "[1, 2]"},
                                    {"not JSON", ""}}) {
    EXPECT_EQ(metadata_of(text).metadata, found) << text;
  }
}

TEST(Convert, NamesStay) {
  const Topology topology = parse_valid(kAwkward);
  for (const auto& [format, source] : kFormats) {
    const Topology again = there_and_back(topology, format, source);
    EXPECT_EQ(again.name, topology.name) << info_of(source).name;
    EXPECT_EQ(again.description, topology.description) << info_of(source).name;
  }
}

TEST(Convert, WhatNodesAreStays) {
  const Topology topology = parse_valid(flat_file(
      R"({"id":"# gpu ","type":"compute","weight":"2/3","box":"b, c"},{"id":"#2","type":"compute"},
         {"id":"s","type":"switch","multicast":true},{"id":"t","type":"switch","reduce":true,"echo":false})",
      R"({"src":"# gpu ","dst":"s","bandwidth":1},{"src":"#2","dst":"s","bandwidth":1},
         {"src":"s","dst":"t","bandwidth":1})"));
  for (const auto& [format, source] : kFormats) {
    const Topology again = there_and_back(topology, format, source);
    ASSERT_EQ(again.nodes.size(), topology.nodes.size());
    std::map<std::string, TopologyNode> by_id;
    for (const TopologyNode& node : again.nodes) by_id[node.id] = node;
    for (const TopologyNode& node : topology.nodes) {
      const TopologyNode& back = by_id[node.id];
      EXPECT_EQ(back.type, node.type) << node.id << info_of(source).name;
      EXPECT_EQ(back.box, node.box) << node.id << info_of(source).name;
      EXPECT_EQ(back.weight, node.weight) << node.id << info_of(source).name;
      EXPECT_EQ(back.multicast, node.multicast) << node.id << info_of(source).name;
      EXPECT_EQ(back.reduce, node.reduce) << node.id << info_of(source).name;
      EXPECT_EQ(back.echo, node.echo) << node.id << info_of(source).name;
    }
    expect_same_fabric(topology, again, std::string(info_of(source).name));
  }
}

TEST(Convert, WhatIsLostIsSaid) {
  const Topology topology = parse_valid(kAwkward);
  for (const auto& [format, source] : kFormats) {
    const auto lost = convert(topology, format).lost;
    EXPECT_THAT(lost, ElementsAre("1 disabled node", "1 disabled link"));
  }
  EXPECT_THAT(convert(topology, GraphFormat::topology).lost, IsEmpty());
  const Topology able = parse_valid(flat_file(
      R"({"id":"g[0-1]","type":"compute","weight":2},{"id":"s","type":"switch","multicast":true},
         {"id":"alone","type":"switch"})",
      R"({"src":"g[0-1]","dst":"s","bandwidth":1})"));
  EXPECT_THAT(convert(able, GraphFormat::csv).lost, ElementsAre("1 node without links"));
}

TEST(Convert, OurOwnFormatKeepsDisabledParts) {
  const Topology again = parse_valid(convert(parse_valid(kAwkward), GraphFormat::topology).text);
  EXPECT_EQ(again.nodes.size(), 5U);
  EXPECT_EQ(again.links.size(), 5U);
}

TEST(Convert, NumbersAreExact) {
  const Topology topology = parse_valid(kAwkward);
  const auto json = nlohmann::json::parse(convert(topology, GraphFormat::networkx).text);
  EXPECT_EQ(json["edges"][0]["bandwidth"], "1000/3");
  EXPECT_EQ(json["edges"][2]["bandwidth"], 370.8);
  EXPECT_TRUE(json["edges"][2]["bandwidth"].is_number());
  EXPECT_EQ(json["edges"][6]["bandwidth"], "12345678901.2345678") << "a double would round it";
  EXPECT_TRUE(json["directed"]);
  EXPECT_EQ(json["nodes"][0]["rank"], 1);
  EXPECT_THAT(
      convert(topology, GraphFormat::csv).text,
      HasSubstr(
          "\"c,d\",<b>&,12345678901.2345678,,,simplex,compute,compute,\"b,1\",\"b,1\",0,2,,\n"));
}

TEST(Convert, GraphMlIsXml) {
  pugi::xml_document document;
  ASSERT_TRUE(
      document.load_string(convert(parse_valid(kAwkward), GraphFormat::graphml).text.c_str()));
  EXPECT_STREQ(document.child("graphml").child("graph").child("node").attribute("id").value(),
               "a \"q\"");
}

TEST(GraphFormats, ByNameAndByExtension) {
  EXPECT_EQ(find_graph_format("networkx"), GraphFormat::networkx);
  EXPECT_EQ(find_graph_format("xml"), std::nullopt);
  EXPECT_EQ(graph_format_of_file("a/b.graphml"), GraphFormat::graphml);
  EXPECT_EQ(graph_format_of_file("x.gv"), GraphFormat::dot);
  EXPECT_EQ(graph_format_of_file("x.json"), GraphFormat::topology);
  EXPECT_EQ(graph_format_of_file("-"), std::nullopt);
}

TEST(QuoteDot, EscapesWhatDotDoes) {
  EXPECT_EQ(topology::quote_dot("a\"b"), "\"a\\\"b\"");
  EXPECT_EQ(topology::quote_dot("a\\"), "\"a\\\\\"");
}

TEST(QuoteDot, LabelsShowTheTextItself) {
  EXPECT_EQ(topology::quote_dot_label("a\\Nb\\"), "\"a\\\\Nb\\\\\"");
  const std::string two_lines[] = {"a\\", "b"};
  EXPECT_EQ(topology::quote_dot_label(two_lines), "\"a\\\\\\nb\"");
  EXPECT_EQ(topology::quote_dot_label("\\\"\n\x7f"), "\"\\\\\\\"??\"");
}

}  // namespace
}  // namespace forestcoll::testing
