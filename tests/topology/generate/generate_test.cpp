// Generated fabrics: they read without findings, stay small, and refuse what cannot be.
#include "forestcoll/generate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "topology/generate/fabric.hpp"
#include "topology/generate/jellyfish.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Field;

using Values = std::map<std::string, std::string>;

std::string text_of(const std::string& name, const Values& values) {
  const auto document = generate(name, values);
  if (!document) {
    ADD_FAILURE() << name << ": " << to_string(document.errors().front());
    return "";
  }
  return to_topology_json(*document);
}

Topology make(const std::string& name, const Values& values = {}) {
  return parse_valid(text_of(name, values));
}

TEST(Generate, EveryGeneratorWorksAsItStands) {
  EXPECT_GE(generators().size(), 20U);
  for (const Generator& generator : generators()) {
    const std::string text = text_of(generator.name, {});
    EXPECT_THAT(codes_of(findings_of(text)), IsEmpty()) << generator.name;
    EXPECT_FALSE(parse_valid(text).name.empty());
  }
}

TEST(Generate, MachinesNameTheirSources) {
  for (const char* name :
       {"dgx-1v", "dgx-2", "dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "gb200-nvl72", "mi250",
        "mi300x", "mixed", "tpu-v4", "tpu-v5e", "tpu-v5p", "trn2", "gaudi-3", "tpu-v7"}) {
    EXPECT_THAT(text_of(name, {}), HasSubstr("source")) << name;
  }
}

// NVSwitches from H100 on echo, SHARP does not.
TEST(Generate, SwitchesSayWhatTheyCanDo) {
  const auto able = [](const Topology& topology) {
    std::map<std::string, int> by_echo;
    for (const TopologyNode& node : topology.nodes) {
      if (node.multicast && node.reduce) ++by_echo[node.echo ? "echoes" : "is silent"];
    }
    return by_echo;
  };
  using Able = std::map<std::string, int>;
  for (const std::string fabric : {"single", "odd-even", "rail", "rail-spine", "fat-tree"}) {
    const Topology plain =
        parse_valid(text_of("dgx-h200", {{"boxes", "8"}, {"fabric", fabric}, {"sharp", "no"}}));
    EXPECT_EQ(able(plain), (Able{{"echoes", 8}})) << fabric;
    const Topology sharp =
        parse_valid(text_of("dgx-h200", {{"boxes", "8"}, {"fabric", fabric}, {"sharp", "yes"}}));
    std::size_t boxless = 0;
    for (const TopologyNode& node : sharp.nodes) boxless += node.box.empty() ? 1 : 0;
    EXPECT_EQ(able(sharp), (Able{{"echoes", 8}, {"is silent", static_cast<int>(boxless)}}))
        << fabric;
  }
  EXPECT_EQ(able(parse_valid(text_of("dgx-a100", {{"boxes", "2"}}))), Able());
}

TEST(Generate, FabricsReadWithoutFindings) {
  for (const std::string fabric : {"single", "odd-even", "rail", "rail-spine", "fat-tree"}) {
    for (const std::string boxes : {"2", "5", "40"}) {
      for (const std::string name : {"dgx-1v", "dgx-2", "dgx-h100", "mi250", "mi300x"}) {
        const std::string text = text_of(name, {{"boxes", boxes}, {"fabric", fabric}});
        EXPECT_THAT(codes_of(findings_of(text)), IsEmpty()) << name << fabric << boxes;
      }
    }
  }
}

std::set<std::pair<std::string, std::string>> pairs_of(const Topology& topology) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (const TopologyLink& link : topology.links) {
    const std::string &src = topology.nodes[link.src].id, &dst = topology.nodes[link.dst].id;
    pairs.insert(std::minmax(src, dst));
  }
  EXPECT_EQ(pairs.size(), topology.links.size()) << "every pair is linked once";
  return pairs;
}

TEST(Generate, BundledFabricsComeOutAgain) {
  const auto bundled = [](const std::string& file) {
    return parse_valid(read_file(source_path("topologies/" + file + ".json")));
  };
  EXPECT_EQ(pairs_of(make("torus")), pairs_of(bundled("torus-4x4")));
  EXPECT_EQ(pairs_of(make("torus", {{"dims", "8x8x8"}})), pairs_of(bundled("torus-8x8x8")));
  EXPECT_EQ(pairs_of(make("hypercube")), pairs_of(bundled("hypercube-16")));
  EXPECT_EQ(pairs_of(make("dragonfly")), pairs_of(bundled("dragonfly-72")));
  EXPECT_EQ(pairs_of(make("fat-tree")), pairs_of(bundled("fat-tree-4")));
  EXPECT_EQ(pairs_of(make("dgx-1v")), pairs_of(bundled("dgx-1-v100")));
  EXPECT_EQ(pairs_of(make("mi250", {{"boxes", "2"}, {"fabric", "single"}})),
            pairs_of(bundled("mi250-x2")));
  EXPECT_EQ(pairs_of(make("dgx-a100", {{"boxes", "4"}, {"fabric", "odd-even"}})),
            pairs_of(bundled("dgx-a100-x4")));
}

TEST(GenerateLong, SixteenThousandGpusStaySmall) {
  const std::vector<std::pair<std::string, Values>> large = {
      {"dgx-h100", {{"boxes", "2048"}, {"fabric", "rail-spine"}}},
      {"dgx-h100", {{"boxes", "2048"}, {"fabric", "fat-tree"}, {"boxes-per-leaf", "8"}}},
      {"torus", {{"dims", "16x32x32"}}},
      {"hypercube", {{"dimensions", "14"}}},
      {"fat-tree", {{"ports", "40"}}},
      {"dragonfly", {{"hosts", "8"}, {"routers", "16"}, {"global", "8"}}},
      {"bcube", {{"ports", "128"}, {"levels", "2"}}},
      {"circulant", {{"nodes", "16384"}, {"offsets", "1,128"}}},
  };
  for (const auto& [name, values] : large) {
    const std::string text = text_of(name, values);
    EXPECT_LT(text.size(), 100'000U) << name;
    EXPECT_GE(parse_valid(text).ranks.size(), 16'000U) << name;
  }
}

TEST(Generate, EveryPairOfDragonflyGroupsHasOneLink) {
  for (const Values& values :
       std::vector<Values>{{{"hosts", "1"}, {"routers", "3"}, {"global", "1"}},
                           {{"hosts", "2"}, {"routers", "4"}, {"global", "3"}},
                           {{"hosts", "1"}, {"routers", "1"}, {"global", "1"}},
                           {{"hosts", "1"}, {"routers", "5"}, {"global", "3"}}}) {
    const Topology topology = make("dragonfly", values);
    std::set<std::pair<std::string, std::string>> groups;
    std::map<std::string, int> used;
    std::size_t global = 0;
    for (const TopologyLink& link : topology.links) {
      const TopologyNode &src = topology.nodes[link.src], &dst = topology.nodes[link.dst];
      if (src.box == dst.box) continue;
      ++global;
      groups.insert(std::minmax(src.box, dst.box));
      ++used[src.id], ++used[dst.id];
    }
    const auto h = std::stoi(values.at("global"));
    const auto count = static_cast<std::size_t>(std::stoi(values.at("routers")) * h + 1);
    EXPECT_EQ(global, count * (count - 1) / 2);
    EXPECT_EQ(groups.size(), global);
    for (const auto& [router, links] : used) EXPECT_EQ(links, h) << router;
  }
}

TEST(Generate, CirculantOfHalfTheRing) {
  EXPECT_EQ(pairs_of(make("circulant", {{"nodes", "8"}, {"offsets", "1,4"}})).size(), 12U);
  EXPECT_EQ(pairs_of(make("circulant", {{"nodes", "7"}, {"offsets", "1,2,3"}})),
            pairs_of(make("full-mesh", {{"nodes", "7"}})));
  EXPECT_EQ(pairs_of(make("ring", {{"nodes", "2"}})).size(), 1U);
}

TEST(Generate, DigraphsHaveTheirDegrees) {
  const Topology kautz = make("kautz", {{"degree", "3"}, {"diameter", "3"}});
  EXPECT_EQ(kautz.nodes.size(), 36U);
  EXPECT_EQ(kautz.links.size(), 108U);
  const Topology de_bruijn = make("de-bruijn", {{"degree", "3"}, {"diameter", "3"}});
  EXPECT_EQ(de_bruijn.nodes.size(), 27U);
  EXPECT_EQ(de_bruijn.links.size(), 27U * 3 - 3);
  std::map<NodeId, int> enters;
  for (const TopologyLink& link : kautz.links) {
    EXPECT_FALSE(link.full_duplex);
    ++enters[link.dst];
  }
  for (const auto& [node, count] : enters) EXPECT_EQ(count, 3);
}

// The heads of the arcs that leave a node.
std::set<std::string> heads(const Topology& topology, const std::string& tail) {
  std::set<std::string> ids;
  for (const TopologyLink& link : topology.links) {
    if (topology.nodes[link.src].id == tail) ids.insert(topology.nodes[link.dst].id);
  }
  return ids;
}

TEST(Generate, DigraphsShiftTheDigitsOfTheirNodes) {
  using Ids = std::set<std::string>;
  const Topology de_bruijn = make("de-bruijn", {{"degree", "3"}, {"diameter", "2"}});
  EXPECT_EQ(heads(de_bruijn, "n0"), (Ids{"n1", "n2"}));
  EXPECT_EQ(heads(de_bruijn, "n5"), (Ids{"n6", "n7", "n8"}));
  EXPECT_EQ(heads(de_bruijn, "n8"), (Ids{"n6", "n7"}));
  // Kautz(2, 2) has six nodes: i leads to -2i - 1 and -2i - 2.
  const Topology kautz = make("kautz", {{"degree", "2"}, {"diameter", "2"}});
  EXPECT_EQ(heads(kautz, "n0"), (Ids{"n4", "n5"}));
  EXPECT_EQ(heads(kautz, "n1"), (Ids{"n2", "n3"}));
  EXPECT_EQ(heads(kautz, "n5"), (Ids{"n0", "n1"}));
}

// A NIC that two GPUs share is a node for either direction: no way from one to the other.
TEST(Generate, NeighboursShareANic) {
  using Ids = std::set<std::string>;
  for (const std::string name : {"dgx-1v", "dgx-2"}) {
    const Topology cluster = make(name, {{"boxes", "2"}});
    for (const auto& [gpu, nic] : {std::pair("0", "0"), {"1", "0"}, {"2", "1"}, {"7", "3"}}) {
      EXPECT_THAT(heads(cluster, std::string("box1/gpu") + gpu),
                  Contains(std::string("box1/nic_out") + nic));
    }
    EXPECT_EQ(heads(cluster, "box1/nic_out2"), Ids{"rail2"});
    EXPECT_EQ(heads(cluster, "box1/nic_in2"), (Ids{"box1/gpu4", "box1/gpu5"}));
    EXPECT_THAT(heads(cluster, "rail2"), Contains("box1/nic_in2"));
  }
}

TEST(Generate, OversubscriptionThinsTheUplinks) {
  const auto uplink = [](const std::string& factor) {
    const Topology t = make("dgx-h100", {{"boxes", "8"},
                                         {"fabric", "rail-spine"},
                                         {"boxes-per-leaf", "4"},
                                         {"spines", "2"},
                                         {"oversubscription", factor}});
    for (const TopologyLink& link : t.links) {
      if (link.kind == "uplink") return link.bandwidth;
    }
    return Ratio(0);
  };
  EXPECT_EQ(uplink("1"), Ratio(100));
  EXPECT_EQ(uplink("3:1"), Ratio(100, 3));
  EXPECT_EQ(uplink("3:2"), Ratio(200, 3));
}

TEST(Generate, NicBandwidthKeepsItsUnit) {
  const std::string text =
      text_of("dgx-a100", {{"boxes", "2"}, {"fabric", "single"}, {"nic-bandwidth", "100 Gb/s"}});
  EXPECT_THAT(text, HasSubstr("\"100 Gb/s\""));
}

// The code and the message of the only finding.
std::string refusal(const std::string& name, const Values& values) {
  const auto document = generate(name, values);
  if (document) return "accepted";
  EXPECT_EQ(document.errors().size(), 1U) << to_string(document.errors().front());
  EXPECT_FALSE(document.errors().front().remedy.empty());
  return std::string(name_of(document.errors().front().code)) + " " +
         document.errors().front().message;
}

TEST(Generate, UnknownNames) {
  EXPECT_EQ(refusal("dgx-a10", {}), "G01 no fabric is called \"dgx-a10\"");
  EXPECT_THAT(generate("dgx-a10").errors().front().remedy, HasSubstr("dgx-a100"));
  EXPECT_THAT(generate("xyzzy").errors().front().remedy, HasSubstr("`generators()`"));
  EXPECT_EQ(refusal("torus", {{"boxes", "3"}}), "G02 torus has no parameter `boxes`");
  EXPECT_THAT(refusal("dgx-a100", {{"fabric", "rails"}}), HasSubstr("\"rails\" is no choice here"));
}

TEST(Generate, RefusesWhatCannotBe) {
  const std::vector<std::tuple<std::string, Values, std::string>> cases = {
      {"dgx-a100", {{"boxes", "0"}}, "`boxes`: expected a whole number from 1 to 100000"},
      {"dgx-a100", {{"boxes", "2.5"}}, "found \"2.5\""},
      {"dgx-a100", {{"boxes", "2"}, {"fabric", "none"}}, "none leaves 2 boxes"},
      {"dgx-a100", {{"boxes", "2"}, {"oversubscription", "2"}}, "no spines"},
      {"dgx-a100", {{"boxes", "2"}, {"spines", "2"}}, "`spines`: this fabric has no leaves"},
      {"dgx-a100", {{"boxes", "2"}, {"boxes-per-leaf", "2"}}, "no leaves and spines"},
      {"dgx-a100", {{"boxes", "2"}, {"spines", "4"}}, "no leaves and spines"},
      {"dgx-a100", {{"fabric", "rail"}}, "`fabric`: one box has no fabric"},
      {"dgx-a100", {{"boxes", "1"}, {"nic-bandwidth", "25"}}, "`nic-bandwidth`: one box has no"},
      {"dgx-a100", {{"spines", "2"}}, "`spines`: one box has no fabric"},
      {"dgx-h100", {{"sharp", "yes"}}, "`sharp`: one box has no fabric"},
      {"dgx-h100", {{"boxes", "2"}, {"sharp", "maybe"}}, "`sharp`"},
      {"dgx-a100", {{"boxes", "2"}, {"nic-bandwidth", "0"}}, "expected a positive bandwidth"},
      {"dgx-a100", {{"boxes", "2"}, {"nic-bandwidth", "25 parsec"}}, "25 parsec"},
      {"dgx-h100",
       {{"boxes", "2"}, {"fabric", "rail-spine"}, {"oversubscription", "1:2"}},
       "at least 1"},
      {"dgx-h100",
       {{"boxes", "2"}, {"fabric", "rail-spine"}, {"oversubscription", "1:0"}},
       "at least 1"},
      {"mixed", {{"a100", "0"}, {"h100", "0"}}, "no boxes"},
      {"torus", {{"dims", "1x1"}}, "one node only"},
      {"torus", {{"dims", "4x"}}, "found \"4x\""},
      {"torus", {{"dims", "1000x1000x1000x1000"}}, "more than a million"},
      {"mesh", {{"bandwidth", "-1"}}, "positive bandwidth"},
      {"circulant", {{"nodes", "8"}, {"offsets", "5"}}, "5 is more than half"},
      {"circulant", {{"nodes", "8"}, {"offsets", "2,4"}}, "share the divisor 2"},
      {"circulant", {{"nodes", "9"}, {"offsets", "0"}}, "found \"0\""},
      {"fat-tree", {{"ports", "5"}}, "5 ports have no half"},
      {"dragonfly",
       {{"hosts", "99"}, {"routers", "200"}, {"global", "200"}},
       "more than a million"},
      {"bcube", {{"ports", "200"}, {"levels", "5"}}, "more than a million"},
      {"jellyfish", {{"switches", "5"}, {"degree", "3"}}, "5 switches cannot have 3"},
      {"jellyfish", {{"switches", "4"}, {"degree", "4"}}, "4 switches cannot have 4"},
      {"jellyfish", {{"switches", "6"}, {"degree", "1"}}, "no connected network"},
      {"kautz", {{"degree", "60"}, {"diameter", "9"}}, "more than 100000 nodes"},
      {"de-bruijn", {{"degree", "60"}, {"diameter", "9"}}, "more than 100000 nodes"},
      {"hypercube", {{"dimensions", "40"}}, "from 1 to 19"},
      {"full-mesh", {{"nodes", "1"}}, "from 2 to 2000"},
  };
  for (const auto& [name, values, message] : cases) {
    EXPECT_THAT(refusal(name, values), HasSubstr(message)) << name;
  }
}

TEST(Generate, SaysAllThatIsWrong) {
  const auto document =
      generate("torus", {{"dims", "x"}, {"bandwidth", "fast"}, {"colour", "red"}});
  ASSERT_FALSE(document);
  EXPECT_EQ(document.errors().size(), 3U);
}

TEST(RandomRegularGraph, IsRegularConnectedAndTheSameForASeed) {
  for (const auto& [nodes, degree] : std::vector<std::pair<std::size_t, std::size_t>>{
           {4, 3}, {5, 4}, {16, 4}, {9, 2}, {50, 7}, {200, 3}}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto graph = topology::random_regular_graph(nodes, degree, seed);
      ASSERT_TRUE(graph) << nodes << " " << degree << " " << seed;
      for (std::size_t v = 0; v < nodes; ++v) {
        const auto& list = (*graph)[v];
        EXPECT_EQ(list.size(), degree);
        EXPECT_EQ(std::set<std::size_t>(list.begin(), list.end()).size(), degree);
        EXPECT_EQ(std::ranges::count(list, v), 0);
        for (const std::size_t w : list) EXPECT_THAT((*graph)[w], Contains(v));
      }
      EXPECT_EQ(graph, topology::random_regular_graph(nodes, degree, seed));
    }
  }
  EXPECT_NE(topology::random_regular_graph(16, 4, 1), topology::random_regular_graph(16, 4, 2));
}

}  // namespace
}  // namespace forestcoll::testing
