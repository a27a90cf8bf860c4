// What simulators and synthesisers read: SCCL, ASTRA-sim, ns-3 and SimAI.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

// SCCL, whose matrix is transposed.

TEST(ImportSccl, ARowIsWhatANodeReceives) {
  const std::string text = R"({"name":"three","links":[[0,2,0],[0,0,1],[1.5,0,0]],"switches":[]})";
  EXPECT_EQ(detect_source(text), Source::sccl);
  EXPECT_THAT(arcs_of(import_fabric(Source::sccl, text)),
              ElementsAre("gpu0 -> gpu2 3/2", "gpu1 -> gpu0 2", "gpu2 -> gpu1 1"));
  EXPECT_THAT(import_valid(Source::sccl, text).report.guesses, ElementsAre(HasSubstr("1 GB/s")));
  EXPECT_THAT(arcs_of(import_fabric(Source::sccl, text, {.bandwidths = {{"link", Ratio(25)}}})),
              Contains("gpu1 -> gpu0 50"));
}

TEST(ImportSccl, SwitchesAreLimitsOfAllLinksBetweenTheirNodes) {
  const Topology fabric = import_fabric(
      Source::sccl,
      R"({"links":[[0,1,1],[1,0,1],[1,1,0]],"switches":[[[0],[1,2],1.5,"out"],[[0],[0],1,"no"]]})",
      {.bandwidths = {{"link", Ratio(10)}}});
  ASSERT_EQ(fabric.limits.size(), 1U);
  EXPECT_EQ(fabric.limits.front().name, "out");
  EXPECT_EQ(fabric.limits.front().bandwidth, Ratio(15));
  EXPECT_EQ(fabric.limits.front().uses.size(), 2U);
}

TEST(ImportSccl, BrokenMatricesAreRefusedWithTheirPlace) {
  EXPECT_THAT(import_errors(Source::sccl, R"({"links":[[0,1],[1]]})"), ElementsAre("I02 /links/1"));
  EXPECT_THAT(import_errors(Source::sccl, R"({"links":[[0,1],[1,"x"]]})"),
              ElementsAre("I03 /links/1/1"));
  EXPECT_THAT(import_errors(Source::sccl, R"({"links":[[0,-1],[1,0]]})"),
              ElementsAre("I03 /links/0/1"));
  EXPECT_THAT(import_errors(Source::sccl, R"({"links":3})"), ElementsAre("I01"));
  const auto with = [](const std::string& switches) {
    return import_errors(Source::sccl, R"({"links":[[0,1],[1,0]],"switches":[)" + switches + "]}");
  };
  EXPECT_THAT(with(R"([[0],[1],0,"s"])"), ElementsAre("I03 /switches/0"));
  EXPECT_THAT(with(R"([[0],[1],1,"s"],[[0],[1]])"), ElementsAre("I03 /switches/1"));
  EXPECT_THAT(with(R"([[0],[2],1,"s"])"), ElementsAre("I02 /switches/0"));
  EXPECT_THAT(with(R"([[0],["x"],1,"s"])"), ElementsAre("I02 /switches/0"));
}

// OptCCL, where sets of edges have bounds.

constexpr const char* kOptccl = R"({"format": "optccl-topology-spec",
  "components": [{"id": ["g", 1], "capabilities": ["gpu"]}, {"id": ["g", 2], "type": "gpu"},
                 {"id": ["p", 1]}, {"id": "m", "type": "mem"}, {"id": ["n", 1]}],
  "nics": [["n", 1]],
  "edges": [{"src": ["g", 1], "dst": ["p", 1], "cost": 1}, {"src": ["p", 1], "dst": ["g", 1]},
            {"src": ["g", 2], "dst": ["p", 1]}, {"src": ["p", 1], "dst": ["g", 2]},
            {"src": ["g", 1], "dst": ["g", 1]},
            {"src": ["p", 1], "dst": "m"}, {"src": "m", "dst": ["p", 1]},
            {"src": ["p", 1], "dst": ["n", 1]}, {"src": ["n", 1], "dst": ["p", 1]}],
  "bandwidth_constraints": [
    {"name": "pcie", "edges": [[["g", 1], ["p", 1]]], "bound": 32},
    {"name": "bus", "edges": [[["g", 1], ["p", 1]], [["g", 2], ["p", 1]]], "bound": 48},
    {"name": "up", "edges": [["m", ["n", 1]]], "bound": 1}],
  "expansion": {"type": "multirail", "params": {"connection_bw": 25}}})";

TEST(ImportOptccl, BoundsOfSetsAreLimits) {
  EXPECT_EQ(detect_source(kOptccl), Source::optccl);
  const Topology fabric = import_fabric(Source::optccl, kOptccl);
  // What nothing bounds carries as much as all bounds together, and one more.
  EXPECT_THAT(arcs_of(fabric), AllOf(Contains("g1 -> p1 32"), Contains("g2 -> p1 48"),
                                     Contains("p1 -> g2 81"), Contains("p1 -> m 81")));
  ASSERT_EQ(fabric.limits.size(), 1U);
  EXPECT_EQ(fabric.limits.front().name, "bus");
  EXPECT_EQ(fabric.limits.front().uses.size(), 2U);
  EXPECT_EQ(fabric.ranks.size(), 2U);
}

TEST(ImportOptccl, NodesAreJoinedByRails) {
  const Topology fabric = import_fabric(Source::optccl, kOptccl, {.boxes = 3});
  EXPECT_EQ(fabric.ranks.size(), 6U);
  ASSERT_EQ(fabric.limits.size(), 3U);
  EXPECT_EQ(fabric.limits[0].name, "bus");
  EXPECT_EQ(fabric.limits[2].name, "bus 3");
  EXPECT_THAT(arcs_of(fabric),
              AllOf(Contains("box2/n1 -> rail-n1 25"), Contains("rail-n1 -> box0/n1 25"),
                    Contains("box1/g1 -> box1/p1 32")));
  EXPECT_EQ(names_of_boxes(fabric).size(), 3U);
  EXPECT_THAT(arcs_of(import_fabric(Source::optccl, kOptccl,
                                    {.nic_bandwidth = Ratio(50), .boxes = 2, .fabric = "rail"})),
              Contains("box0/n1 -> rail-n1 50"));
}

TEST(ImportOptccl, BrokenSpecsAreRefusedWithTheirPlace) {
  const auto with = [](const std::string& part, const std::string& instead) {
    std::string text = kOptccl;
    text.replace(text.find(part), part.size(), instead);
    return text;
  };
  const auto errors = [&](const std::string& part, const std::string& instead) {
    return import_errors(Source::optccl, with(part, instead));
  };
  EXPECT_THAT(errors("\"type\": \"gpu\"", "\"type\": \"cpu\""),
              ElementsAre("I03 /components/1/type"));
  EXPECT_THAT(errors("[\"gpu\"]", "[\"fly\"]"), ElementsAre("I03 /components/0/capabilities"));
  EXPECT_THAT(errors("\"nics\": [[\"n\", 1]]", "\"nics\": [[\"n\", 2]]"),
              ElementsAre("I02 /nics/0"));
  EXPECT_THAT(errors("{\"src\": [\"g\", 1]", "{\"src\": [\"g\", 9]"), ElementsAre("I02 /edges/0"));
  EXPECT_THAT(errors("\"bound\": 48", "\"bound\": 0"),
              ElementsAre("I03 /bandwidth_constraints/1/bound"));
  EXPECT_THAT(errors("multirail", "torus"), ElementsAre("I08 /expansion/type"));
  EXPECT_THAT(errors("\"connection_bw\": 25", "\"connection_bw\": -1"),
              ElementsAre("I03 /expansion/params/connection_bw"));
  EXPECT_THAT(import_errors(Source::optccl, with("\"connection_bw\": 25", ""), {.boxes = 2}),
              ElementsAre("I05 /expansion"));
  EXPECT_THAT(import_errors(Source::optccl, kOptccl, {.boxes = 2, .fabric = "single"}),
              ElementsAre("I08"));
}

// Simulators.

TEST(ImportAstraSim, EveryShapeHasItsLinks) {
  const auto yml = [](const std::string& shape, int count) {
    return fmt::format(
        "# a comment\ntopology: [ {} ]\nnpus_count: [ {} ]\nbandwidth: [ 400.0 ]\n"
        "latency: [ 936.25 ]\n",
        shape, count);
  };
  EXPECT_EQ(detect_source(yml("Ring", 8)), Source::astra_sim);
  const Topology ring = import_fabric(Source::astra_sim, yml("Ring", 8));
  EXPECT_EQ(arcs_of(ring).size(), 16U);
  EXPECT_EQ(allgather(ring), Ratio(6400, 7));
  EXPECT_EQ(ring.links[LinkId(0)].latency, Ratio(93625, 100000));
  EXPECT_EQ(allgather(import_fabric(Source::astra_sim, yml("Switch", 8))), Ratio(3200, 7));
  EXPECT_EQ(allgather(import_fabric(Source::astra_sim, yml("FullyConnected", 4))), Ratio(1600));
  EXPECT_THAT(arcs_of(import_fabric(Source::astra_sim, yml("Ring", 2))),
              ElementsAre("npu0 -> npu1 400", "npu1 -> npu0 400"));
}

TEST(ImportAstraSim, DimensionsMultiply) {
  const std::string text =
      "topology: [Ring, Switch]\nnpus_count: [4, 3]\nbandwidth: [80.0, 10]\nlatency: [1, 2]\n";
  const Topology fabric = import_fabric(Source::astra_sim, text);
  EXPECT_EQ(fabric.ranks.size(), 12U);
  EXPECT_THAT(arcs_of(fabric), AllOf(Contains("npu0 -> npu1 80"), Contains("npu4 -> npu7 80"),
                                     Contains("npu11 -> switch3 10")));
}

TEST(ImportAstraSim, BrokenFilesAreRefused) {
  const std::string good = "topology: [Ring]\nnpus_count: [4]\nbandwidth: [80.0]\nlatency: [1]\n";
  const auto errors = [&](const std::string& what, const std::string& by) {
    return import_errors(Source::astra_sim, with(good, what, by));
  };
  EXPECT_THAT(errors("Ring", "Torus"), ElementsAre("I03 1:11"));
  EXPECT_THAT(errors("[4]", "[0]"), ElementsAre("I03 2:13"));
  EXPECT_THAT(errors("[4]", "[4, 4]"), ElementsAre("I02 1:1"));
  EXPECT_THAT(errors("[4]", "[[4]]"), ElementsAre("I02 2:14"));
  EXPECT_THAT(errors("[4]", "{a: 4}"), ElementsAre("I02 2:13"));
  EXPECT_THAT(errors("[4]", "[999999999]"), ElementsAre("I03 2:13"));
  EXPECT_THAT(errors("Ring", "FullyConnected").size(), 1U);
  EXPECT_THAT(import_errors(Source::astra_sim,
                            "topology: [FullyConnected]\nnpus_count: [100000]\nbandwidth: [1]\n"),
              ElementsAre("I09 1:1"));
  EXPECT_THAT(
      import_errors(Source::astra_sim, "topology: [Ring]\nnpus_count: [1]\nbandwidth: [1]\n"),
      ElementsAre("I06"));
  EXPECT_THAT(errors("80.0", "-80"), ElementsAre("I03 3:12"));
  EXPECT_THAT(errors("[1]", "[x]"), ElementsAre("I03 4:10"));
  EXPECT_THAT(errors("bandwidth:", "width:"), ElementsAre("I01"));
  EXPECT_THAT(errors("[4]", "[4"), ElementsAre(HasSubstr("I02")));
  EXPECT_THAT(import_errors(Source::astra_sim, "topology: " + std::string(50'000, '[')),
              ElementsAre(HasSubstr("I02")));
  EXPECT_THAT(import_errors(Source::astra_sim, std::string(2'000'000, ' ') + "a"),
              ElementsAre("I09"));
}

const std::string kEdges =
    "6 2 2 3 7 H100\n4 5 3 \n0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 25ns 0\n"
    "2 5 2880Gbps 25ns 0\n0 3 400Gbps 0.0005ms 0\n1 3 400Gbps 0.0005ms 0\n"
    "2 3 400Gbps 0.0005ms 0\n5 3 80Gbps 1us 0\n";

TEST(ImportSimai, AnEdgeListIsReadByItsCounts) {
  const std::string text = with(kEdges, "6 2 2 3 7", "6 2 2 1 7");
  EXPECT_EQ(detect_source(text), Source::simai);
  const Topology fabric = import_fabric(Source::simai, text);
  EXPECT_EQ(fabric.ranks.size(), 3U);
  EXPECT_EQ(fabric.nodes[fabric.ranks[2]].box, "server1");
  EXPECT_EQ(fabric.links[LinkId(0)].kind, "nvlink");
  EXPECT_EQ(fabric.links[LinkId(0)].latency, Ratio(1, 40));
  EXPECT_THAT(arcs_of(fabric), AllOf(Contains("gpu0 -> nvsw4 360"), Contains("nvsw5 -> switch3 10"),
                                     Contains("gpu2 -> switch3 50")));
}

TEST(ImportSimai, TheOlderHeaderHasThreeCounts) {
  const std::string text = "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 0.001ms 0\n";
  EXPECT_EQ(detect_source(text), Source::simai);
  EXPECT_THAT(arcs_of(import_fabric(Source::simai, text)), Contains("gpu0 -> switch2 25/2"));
}

TEST(ImportSimai, BrokenListsAreRefusedWithTheirPlace) {
  const std::string good = with(kEdges, "6 2 2 3 7", "6 2 2 1 7");
  const auto errors = [&](const std::string& what, const std::string& by) {
    return import_errors(Source::simai, with(good, what, by));
  };
  EXPECT_THAT(import_errors(Source::simai, kEdges), ElementsAre("I02 2:1"));
  EXPECT_THAT(errors("5 3 80Gbps 1us 0\n", ""), ElementsAre("I02 8:1"));
  EXPECT_THAT(errors("6 2 2 1 7", "9 2 2 1 7"), ElementsAre("I02 1:1"));
  EXPECT_THAT(errors("2880Gbps", "2880"), ElementsAre("I02 3:1"));
  EXPECT_THAT(errors("0.000025ms", "fast"), ElementsAre("I02 3:1"));
  EXPECT_THAT(errors("0 4 2880", "9 4 2880"), ElementsAre("I02 3:1"));
  EXPECT_THAT(errors("4 5 3", "4 4 3"), ElementsAre("I03 2:1"));
  EXPECT_THAT(errors("6 2 2 1 7", "99999999999 2 2 1 7"), ElementsAre("I02 1:1"));
  EXPECT_THAT(import_errors(Source::simai, "hello"), ElementsAre("I01 1:1"));
}

TEST(ImportSimai, AFabricWithoutSwitchesHasAnEmptyLine) {
  const std::string links = "0 1 80Gbps 1us 0\n1 2 80Gbps 1us 0\n2 0 80Gbps 1us 0\n";
  for (const std::string& text : {"3 0 3\n\n" + links, "3 0 3\n" + links}) {
    EXPECT_EQ(detect_source(text), Source::simai);
    EXPECT_THAT(arcs_of(import_fabric(Source::simai, text)), Contains("gpu2 -> gpu0 10"));
  }
}

TEST(ImportAstraSim, YamlMayBeJson) {
  const std::string text = R"({"topology": ["Ring"], "npus_count": [4], "bandwidth": [50.0]})";
  EXPECT_EQ(detect_source(text), Source::astra_sim);
  EXPECT_THAT(arcs_of(import_fabric(Source::astra_sim, text)), Contains("npu3 -> npu0 50"));
}

TEST(ImportAstraSim, AKeyTwiceIsRefused) {
  EXPECT_THAT(
      import_errors(Source::astra_sim,
                    "topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\nbandwidth: [100]\n"),
      ElementsAre("I02 4:1"));
}

}  // namespace
}  // namespace forestcoll::testing
