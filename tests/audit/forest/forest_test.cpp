// Forests against fabrics, and schedules' loads on them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "audit/builders.hpp"
#include "forestcoll/verify.hpp"
#include "support/explain.hpp"

namespace audit_test {
namespace {

using forestcoll::Code;
using forestcoll::NodeId;
using forestcoll::NodeType;
using forestcoll::Ratio;
using forestcoll::Topology;
using forestcoll::Verdict;
using forestcoll::VerifyOptions;
using forestcoll::test::explain;
using nlohmann::json;

void add_node(Topology& topology, const std::string& id, NodeType type) {
  forestcoll::TopologyNode node;
  node.id = id;
  node.type = type;
  const NodeId number = topology.nodes.push_back(node);
  if (type == NodeType::compute) topology.ranks.push_back(number);
}

void add_link(Topology& topology, int a, int b, int bandwidth) {
  forestcoll::TopologyLink link;
  link.src = NodeId(a);
  link.dst = NodeId(b);
  link.bandwidth = bandwidth;
  topology.links.push_back(link);
}

// `n` GPUs, each with a link of 100 GB/s to a switch "sw" and of 10 GB/s to a switch "net".
Topology star(int n) {
  Topology topology;
  topology.name = "star";
  for (int r = 0; r < n; ++r) add_node(topology, fmt::format("g{}", r), NodeType::compute);
  add_node(topology, "sw", NodeType::switch_node);
  add_node(topology, "net", NodeType::switch_node);
  for (int r = 0; r < n; ++r) {
    add_link(topology, r, n, 100);
    add_link(topology, r, n + 1, 10);
  }
  return topology;
}

json edge(int src, int dst, const std::string& by) {
  const auto id = [](int r) { return fmt::format("g{}", r); };
  return {{"src", id(src)}, {"dst", id(dst)}, {"path", {id(src), by, id(dst)}}};
}

// From every root a chain through all ranks, over the switch.
json chains(int n, bool inward, const std::vector<int>& roots) {
  json trees = json::array();
  for (const int root : roots) {
    json edges = json::array();
    for (int i = 0; i + 1 < n; ++i) {
      const int up = (root + i) % n, down = (root + i + 1) % n;
      edges.push_back(inward ? edge(down, up, "sw") : edge(up, down, "sw"));
    }
    trees.push_back({{"root", fmt::format("g{}", root)},
                     {"multiplicity", 2},
                     {"height", n - 1},
                     {"edges", edges}});
  }
  return trees;
}

// Every rank sends and receives (n − 1) · 2 of the n · 2 shares at 100 GB/s: 4/3 · 100 for n = 4.
json forest(const std::string& collective) {
  const int n = 4;
  const bool rooted = collective == "broadcast" || collective == "reduce";
  const std::vector<int> roots = rooted ? std::vector<int>{1} : std::vector<int>{0, 1, 2, 3};
  json file = {{"format", "forestcoll-forest"},
               {"version", 1},
               {"topology", "star"},
               {"collective", collective},
               {"k", 2},
               {"optimum", {{"exact", "1000"}, {"value", 1000.0}}},
               {"ranks", {"g0", "g1", "g2", "g3"}}};
  std::string exact = rooted ? "100" : "400/3";
  if (collective == "allreduce") {
    exact = "200/3";
    file["reduce"] = chains(n, true, roots);
    file["broadcast"] = chains(n, false, roots);
  } else {
    file["trees"] = chains(n, collective == "reduce_scatter" || collective == "reduce", roots);
  }
  file["algbw"] = {{"exact", exact}, {"value", 0.0}};
  return file;
}

Verdict check(const std::string& text, const Topology* topology) {
  auto verdict = forestcoll::verify(text, "forest.json", topology, VerifyOptions{});
  EXPECT_TRUE(verdict.has_value());
  return verdict ? *verdict : Verdict{};
}

class Forest : public testing::TestWithParam<const char*> {};

TEST_P(Forest, PassesAndReachesItsClaim) {
  const Topology topology = star(4);
  const Verdict verdict = check(forest(GetParam()).dump(), &topology);
  EXPECT_TRUE(verdict.ok) << explain(verdict);
  EXPECT_EQ(verdict.format, "forestcoll-forest");
  EXPECT_EQ(to_string(verdict.collective), GetParam());
  ASSERT_TRUE(verdict.algbw && verdict.busiest);
  EXPECT_EQ(verdict.algbw->to_string(), forest(GetParam())["algbw"]["exact"]);
  EXPECT_EQ(verdict.busiest->bandwidth, Ratio(100));
  EXPECT_TRUE(check(forest(GetParam()).dump(2), nullptr).ok);
}

INSTANTIATE_TEST_SUITE_P(AllCollectives, Forest,
                         testing::Values("allgather", "reduce_scatter", "allreduce", "broadcast",
                                         "reduce"));

struct Edit {
  const char* name;
  const char* collective;
  void (*edit)(json&);
  Code code;
  const char* text;
};

class EditedForest : public testing::TestWithParam<Edit> {};

TEST_P(EditedForest, IsRejectedWithThePlace) {
  const Topology topology = star(4);
  json file = forest(GetParam().collective);
  GetParam().edit(file);
  const Verdict verdict = check(file.dump(), &topology);
  EXPECT_FALSE(verdict.ok);
  bool found = false;
  for (const auto& f : verdict.findings) {
    found = found ||
            (f.code == GetParam().code && to_string(f).find(GetParam().text) != std::string::npos);
  }
  EXPECT_TRUE(found) << explain(verdict);
}

json& first_edge(json& f) {
  return f["trees"][0]["edges"][0];
}

INSTANTIATE_TEST_SUITE_P(
    Rules, EditedForest,
    testing::Values(
        Edit{"Version", "allgather", [](json& f) { f["version"] = 4; }, Code::V03,
             "expected 1, 2 or 3"},
        Edit{"VersionType", "allgather", [](json& f) { f["version"] = "1"; }, Code::V03,
             "expected an integer"},
        Edit{"Collective", "allgather", [](json& f) { f["collective"] = "gather"; }, Code::V03,
             "found \"gather\""},
        Edit{"NoAlgbw", "allgather", [](json& f) { f.erase("algbw"); }, Code::V03, "/algbw"},
        Edit{"BadAlgbw", "allgather", [](json& f) { f["algbw"]["exact"] = "fast"; }, Code::V03,
             "found \"fast\""},
        Edit{"BadOptimum", "allgather", [](json& f) { f["optimum"]["exact"] = "best"; }, Code::V03,
             "found \"best\""},
        Edit{"ZeroK", "allgather", [](json& f) { f["k"] = 0; }, Code::V03, "/k"},
        Edit{"HugeK", "allgather", [](json& f) { f["k"] = INT64_MAX; }, Code::V03, "/k"},
        Edit{"OneRank", "allgather", [](json& f) { f["ranks"] = {"g0"}; }, Code::V03, "at least 2"},
        Edit{"RankTwice", "allgather", [](json& f) { f["ranks"][1] = "g0"; }, Code::V03, "twice"},
        Edit{"RankOrder", "allgather", [](json& f) { std::swap(f["ranks"][0], f["ranks"][1]); },
             Code::V20, "rank 0 is g1"},
        Edit{"RankCount", "broadcast", [](json& f) { f["ranks"].push_back("g4"); }, Code::V20,
             "5 ranks, the topology 4"},
        Edit{"NoTrees", "allgather", [](json& f) { f.erase("trees"); }, Code::V03, "missing"},
        Edit{"ListOfAnotherCollective", "allgather", [](json& f) { f["reduce"] = f["trees"]; },
             Code::V03, "does not belong"},
        Edit{"MissingPhase", "allreduce", [](json& f) { f.erase("reduce"); }, Code::V03, "/reduce"},
        Edit{"NotATree", "allgather", [](json& f) { f["trees"][1] = 5; }, Code::V03,
             "expected an object"},
        Edit{"RootUnknown", "allgather", [](json& f) { f["trees"][1]["root"] = "sw"; }, Code::V21,
             "trees tree 1: the root sw"},
        Edit{"RootType", "allgather", [](json& f) { f["trees"][1]["root"] = 3; }, Code::V03,
             "trees tree 1"},
        Edit{"NoRoot", "allgather", [](json& f) { f["trees"][1].erase("root"); }, Code::V21,
             "trees tree 1: no root"},
        Edit{"ZeroMultiplicity", "allgather", [](json& f) { f["trees"][2]["multiplicity"] = 0; },
             Code::V23, "trees tree 2"},
        Edit{"OtherMultiplicity", "allgather", [](json& f) { f["trees"][2]["multiplicity"] = 3; },
             Code::V23, "rooted at g2"},
        Edit{"LostTree", "allgather", [](json& f) { f["trees"].erase(3); }, Code::V23,
             "rooted at g3 have multiplicity 0"},
        Edit{"TwoRoots", "broadcast",
             [](json& f) { f["trees"].push_back(chains(4, false, {2})[0]); }, Code::V23,
             "the trees have 2"},
        Edit{"Height", "allgather", [](json& f) { f["trees"][0]["height"] = 2; }, Code::V22,
             "trees tree 0: height is 2, but the longest way to the root has 3"},
        Edit{"LostEdge", "allgather", [](json& f) { f["trees"][0]["edges"].erase(1); }, Code::V21,
             "not connected"},
        Edit{"SecondEdge", "allgather",
             [](json& f) { f["trees"][0]["edges"].push_back(edge(0, 2, "sw")); }, Code::V21,
             "trees tree 0, edge 3 (g0 to g2): a second edge into g2"},
        Edit{"EdgeIntoTheRoot", "allgather",
             [](json& f) { f["trees"][0]["edges"].push_back(edge(2, 0, "sw")); }, Code::V21,
             "edge 3 (g2 to g0): leads into the root g0"},
        Edit{"OutTreesForAReduction", "reduce", [](json& f) { f["trees"] = chains(4, false, {1}); },
             Code::V21, "child to parent"},
        Edit{"Circle", "allgather", [](json& f) { f["trees"][0]["edges"][0] = edge(3, 1, "sw"); },
             Code::V21, "circle"},
        Edit{"EndIsASwitch", "allgather", [](json& f) { first_edge(f)["dst"] = "sw"; }, Code::V21,
             "both ends"},
        Edit{"PathBegin", "allgather", [](json& f) { first_edge(f)["path"][0] = "g3"; }, Code::V24,
             "trees tree 0, edge 0 (g0 to g1): the path must begin"},
        Edit{"NoPath", "allgather", [](json& f) { first_edge(f).erase("path"); }, Code::V24,
             "begin at src"},
        Edit{"PathThroughARank", "allgather", [](json& f) { first_edge(f)["path"][1] = "g2"; },
             Code::V24, "passes through g2"},
        Edit{"PathWithoutALink", "allgather",
             [](json& f) {
               first_edge(f)["path"] = {"g0", "g1"};
             },
             Code::V24, "no link leads from g0"},
        Edit{"PathThroughNowhere", "allgather", [](json& f) { first_edge(f)["path"][1] = "moon"; },
             Code::V24, "moon is not a node"},
        Edit{"Claim", "allgather", [](json& f) { f["algbw"]["exact"] = "134"; }, Code::V25,
             "claims 134 GB/s; its trees reach 400/3"},
        Edit{"ClaimTooLow", "allreduce", [](json& f) { f["algbw"]["exact"] = "66"; }, Code::V25,
             "reach 200/3"},
        Edit{"OverloadedLink", "allgather", [](json& f) { first_edge(f)["path"][1] = "net"; },
             Code::V25, "held up by the link from g0 to net"}),
    [](const testing::TestParamInfo<Edit>& edit) { return std::string(edit.param.name); });

TEST(ForestFile, UnreadableIsAnError) {
  const std::string text = forest("allgather").dump(1);
  for (std::size_t length = 1; length + 1 < text.size(); length += 7) {
    const auto verdict =
        forestcoll::verify(text.substr(0, length), "f.json", nullptr, VerifyOptions{});
    ASSERT_FALSE(verdict.has_value()) << length;
    EXPECT_EQ(verdict.errors()[0].code, Code::V01);
    EXPECT_FALSE(verdict.errors()[0].where.empty());
  }
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  const auto verdict = forestcoll::verify(deep, "f.json", nullptr, VerifyOptions{});
  ASSERT_FALSE(verdict.has_value());
  EXPECT_NE(verdict.errors()[0].message.find("levels deep"), std::string::npos);
}

TEST(ForestFile, AnotherFormatIsOneError) {
  json other = forest("allgather");
  other["format"] = "other";
  const std::vector<std::pair<std::string, std::string>> files = {
      {R"({"format": "forestcoll-topology", "version": 1})", "a topology, not a schedule"},
      {R"({"a": 1})", "without the format \"forestcoll-forest\""},
      {R"({"format": 7, "ranks": 3})", "without the format \"forestcoll-forest\""},
      {other.dump(), "expected the format \"forestcoll-forest\", found \"other\""}};
  for (const auto& [text, says] : files) {
    const auto verdict = forestcoll::verify(text, "f.json", nullptr, VerifyOptions{});
    ASSERT_FALSE(verdict.has_value()) << text;
    ASSERT_EQ(verdict.errors().size(), 1U);
    EXPECT_EQ(verdict.errors()[0].kind, forestcoll::ErrorKind::input);
    EXPECT_NE(verdict.errors()[0].message.find(says), std::string::npos)
        << to_string(verdict.errors()[0]);
  }
}

TEST(ForestFile, NoClaimAboveTheOptimum) {
  const Topology topology = star(4);
  // Both phases of an allreduce at once are up to twice as fast as one after the other.
  for (const auto& [collective, reached, missed] :
       {std::tuple("allgather", "400/3", "133"), std::tuple("allreduce", "100/3", "33")}) {
    json file = forest(collective);
    file["optimum"]["exact"] = reached;
    EXPECT_TRUE(check(file.dump(), nullptr).ok);
    file["optimum"]["exact"] = missed;
    for (const Topology* fabric : {static_cast<const Topology*>(nullptr), &topology}) {
      const Verdict verdict = check(file.dump(), fabric);
      EXPECT_FALSE(verdict.ok);
      ASSERT_EQ(verdict.findings.size(), 1U) << explain(verdict);
      EXPECT_EQ(verdict.findings[0].code, Code::V25);
      EXPECT_EQ(verdict.faults, std::vector{forestcoll::Fault::claim});
      EXPECT_NE(verdict.findings[0].message.find(std::string("the ") + missed + " GB/s"),
                std::string::npos);
    }
  }
}

TEST(ForestFile, UnknownFieldsArePassedOver) {
  json file = forest("allgather");
  file["note"] = {{"ranks", {1, {2}}}, {"k", "x"}};
  file["trees"][0]["edges"][0]["colour"] = {"red", json::object()};
  EXPECT_TRUE(check(file.dump(), nullptr).ok);
}

// Reduced over the switch of 100 GB/s, broadcast over that of 10: at once, the latter's links count
// alone; in turn, 3/400 + 3/40 s per GB. A file may claim either.
TEST(ForestOfAllreduce, RunsBothPhasesAtOnce) {
  json file = forest("allreduce");
  for (json& tree : file["broadcast"]) {
    for (json& edge : tree["edges"]) edge["path"][1] = "net";
  }
  const Topology topology = star(4);
  for (const char* claim : {"40/3", "400/33"}) {
    file["algbw"]["exact"] = claim;
    const Verdict verdict = check(file.dump(), &topology);
    EXPECT_TRUE(verdict.ok) << explain(verdict);
    EXPECT_EQ(verdict.algbw, Ratio(40, 3));
    EXPECT_EQ(verdict.busiest->dst, "net");
  }
  for (const char* claim : {"13", "40", "12"}) {
    file["algbw"]["exact"] = claim;
    const Verdict verdict = check(file.dump(), &topology);
    ASSERT_FALSE(verdict.ok) << claim;
    EXPECT_EQ(verdict.findings.front().code, Code::V25);
  }
}

// Loads of a schedule on a fabric.

Verdict check_on(const Algo& algo, const Topology& topology) {
  auto verdict = forestcoll::verify(to_xml(algo), "x.xml", &topology, VerifyOptions{});
  EXPECT_TRUE(verdict.has_value());
  return verdict ? *verdict : Verdict{};
}

TEST(Fabric, RingOnASwitch) {
  const Verdict verdict = check_on(ring_allgather(4, 1, true, true), star(4));
  EXPECT_TRUE(verdict.ok) << explain(verdict);
  ASSERT_TRUE(verdict.algbw.has_value());
  // Three quarters of the buffer over 100 GB/s; the narrow network is not used.
  EXPECT_EQ(*verdict.algbw, Ratio(400, 3));
  EXPECT_EQ(verdict.loads.size(), 8U);
  EXPECT_EQ(verdict.busiest->load, Ratio(3, 4));
  EXPECT_EQ(verdict.loads[0].src, "g0");
  EXPECT_EQ(verdict.loads[0].dst, "sw");
}

TEST(Fabric, EqualRoutesShare) {
  Topology topology = star(3);
  for (auto& link : topology.links) link.bandwidth = 100;
  const Verdict verdict = check_on(ring_allreduce(3, 1, 1, true), topology);
  ASSERT_TRUE(verdict.algbw.has_value());
  EXPECT_EQ(verdict.loads.size(), 12U);
  EXPECT_EQ(verdict.busiest->load, Ratio(2, 3));  // 4/3 of the buffer over two links
  EXPECT_EQ(*verdict.algbw, Ratio(150));
}

TEST(Fabric, SwitchesShareByWidth) {
  // g0 – leaf0 – {spine0 30, spine1 10} – leaf1 – g1
  Topology topology;
  for (const char* id : {"g0", "g1", "leaf0", "leaf1", "spine0", "spine1"}) {
    add_node(topology, id, id[0] == 'g' ? NodeType::compute : NodeType::switch_node);
  }
  add_link(topology, 0, 2, 100);
  add_link(topology, 1, 3, 100);
  for (const int leaf : {2, 3}) {
    add_link(topology, leaf, 4, 30);
    add_link(topology, leaf, 5, 10);
  }
  const Verdict verdict = check_on(ring_allgather(2, 1, true, true), topology);
  ASSERT_TRUE(verdict.algbw.has_value()) << explain(verdict);
  EXPECT_EQ(*verdict.algbw, Ratio(80));  // half a buffer over 40 GB/s
  EXPECT_EQ(verdict.loads.size(), 12U);
}

TEST(Fabric, NeverThroughAnotherGpu) {
  // A line of three GPUs: the ring's way back from g2 to g0 would pass g1.
  Topology topology;
  for (const char* id : {"g0", "g1", "g2"}) add_node(topology, id, NodeType::compute);
  add_link(topology, 0, 1, 10);
  add_link(topology, 1, 2, 10);
  const Verdict verdict = check_on(ring_allgather(3, 1, true, true), topology);
  EXPECT_FALSE(verdict.ok);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].code, Code::V20);
  EXPECT_EQ(verdict.faults, std::vector{forestcoll::Fault::misplaced});
  EXPECT_NE(to_string(verdict.findings[0]).find("rank 2: sends to rank 0, but no route"),
            std::string::npos);
}

TEST(Fabric, AnotherNumberOfGpus) {
  const Verdict verdict = check_on(ring_allgather(3, 1, true, true), star(4));
  EXPECT_FALSE(verdict.ok);
  EXPECT_NE(explain(verdict).find("for 3 GPUs, the topology has 4"), std::string::npos);
}

}  // namespace
}  // namespace audit_test
