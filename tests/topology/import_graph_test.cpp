// Graphs of other tools, in each of their formats.
#include "import_testing.hpp"

namespace forestcoll {
namespace {

using testing::allgather;
using ::testing::AllOf;
using testing::arcs_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::import_errors;
using testing::import_fabric;
using testing::import_messages;
using testing::import_valid;
using ::testing::IsEmpty;
using testing::with;

// One fabric in all formats: two GPUs on a switch, 25 and 1000/3 GB/s.
const std::vector<std::string> kArcs = {"a -> s 25", "b -> s 1000/3", "s -> a 25", "s -> b 1000/3"};

const std::string kNodeLink =
    R"({"directed":false,"multigraph":false,"graph":{"name":"two"},"nodes":[)"
    R"({"id":"a","type":"compute","rank":1,"box":"x"},{"id":"b","type":"compute","rank":0},)"
    R"({"id":"s","type":"switch","multicast":true}],"links":[)"
    R"({"source":"a","target":"s","bandwidth":25.0,"latency":0.5,"kind":"nvlink"},)"
    R"({"source":"b","target":"s","bandwidth":"1000/3"}]})";
const std::string kJsonGraph =
    R"({"graph":{"directed":false,"nodes":{"a":{"metadata":{"type":"compute"}},)"
    R"("b":{"metadata":{"type":"compute"}},"s":{"metadata":{"type":"switch"}}},"edges":[)"
    R"({"source":"a","target":"s","metadata":{"bandwidth":25}},)"
    R"({"source":"b","target":"s","metadata":{"bandwidth":"1000/3"}}]}})";
const std::string kGraphml =
    R"(<?xml version="1.0"?><graphml><key id="d0" for="node" attr.name="type"/>)"
    R"(<key id="d1" for="edge" attr.name="bandwidth"><default>25</default></key>)"
    R"(<graph edgedefault="undirected"><node id="a"><data key="d0">compute</data></node>)"
    R"(<node id="b"><data key="d0"> compute </data></node>)"
    R"(<node id="s"><data key="d0">switch</data></node><edge source="a" target="s"/>)"
    R"(<edge source="b" target="s"><data key="d1">1000/3</data></edge></graph></graphml>)";
const std::string kDot =
    "// a comment\ngraph \"two\" {\n  node [type=compute]; /* all */\n  a; b;\n"
    "  s [type=switch];\n  a -- s [bandwidth=25];\n  b -- s [bandwidth=\"1000/3\"];\n}\n";
const std::string kCsv =
    "src,dst,bandwidth,src_type,dst_type\n# a comment\na,s,25,compute,switch\n"
    "\"b\",s, 1000/3 ,compute,switch\n";

TEST(ImportGraph, AllFormatsSayTheSame) {
  EXPECT_EQ(arcs_of(import_fabric(Source::node_link, kNodeLink)), kArcs);
  EXPECT_EQ(arcs_of(import_fabric(Source::json_graph, kJsonGraph)), kArcs);
  EXPECT_EQ(arcs_of(import_fabric(Source::graphml, kGraphml)), kArcs);
  EXPECT_EQ(arcs_of(import_fabric(Source::dot, kDot)), kArcs);
  EXPECT_EQ(arcs_of(import_fabric(Source::csv, kCsv)), kArcs);
}

TEST(ImportGraph, ContentTellsTheFormat) {
  EXPECT_EQ(detect_source(kNodeLink), Source::node_link);
  EXPECT_EQ(detect_source(kJsonGraph), Source::json_graph);
  EXPECT_EQ(detect_source(kGraphml), Source::graphml);
  EXPECT_EQ(detect_source(kDot), Source::dot);
  EXPECT_EQ(detect_source(kCsv), Source::csv);
}

TEST(ImportGraph, AttributesAreKept) {
  const Topology fabric = import_fabric(Source::node_link, kNodeLink);
  EXPECT_EQ(fabric.name, "two");
  EXPECT_EQ(fabric.nodes[fabric.ranks[0]].id, "b");
  EXPECT_EQ(fabric.nodes[fabric.ranks[1]].box, "x");
  EXPECT_TRUE(fabric.nodes[NodeId(2)].multicast);
  EXPECT_EQ(fabric.links[LinkId(0)].latency, Ratio(1, 2));
  EXPECT_EQ(fabric.links[LinkId(0)].kind, "nvlink");
}

TEST(ImportGraph, DirectedEdgesAreOneWay) {
  const std::string directed = with(kNodeLink, "\"directed\":false", "\"directed\":true");
  EXPECT_THAT(arcs_of(import_fabric(Source::node_link,
                                    with(directed, "]}",
                                         R"(,{"source":"s","target":"a","bandwidth":10},)"
                                         R"({"source":"s","target":"b","bandwidth":10}]})"))),
              ElementsAre("a -> s 25", "b -> s 1000/3", "s -> a 10", "s -> b 10"));
  const std::string dot = "digraph { a -> b [bandwidth=5]; b -> a [bandwidth=7] }";
  EXPECT_THAT(arcs_of(import_fabric(Source::dot, dot)), ElementsAre("a -> b 5", "b -> a 7"));
  const std::string duplex = "digraph { a -> b [bandwidth=5, duplex=full] }";
  EXPECT_THAT(arcs_of(import_fabric(Source::dot, duplex)), ElementsAre("a -> b 5", "b -> a 5"));
}

TEST(ImportGraph, Networkx34CallsThemEdges) {
  EXPECT_EQ(arcs_of(import_fabric(Source::node_link, with(kNodeLink, "\"links\"", "\"edges\""))),
            kArcs);
}

TEST(ImportGraph, CapacityAndWeightAreBandwidthsToo) {
  for (const std::string name : {"capacity", "weight"}) {
    std::string text = with(kNodeLink, "\"bandwidth\"", "\"" + name + "\"");
    text = with(text, "\"bandwidth\"", "\"" + name + "\"");
    EXPECT_EQ(arcs_of(import_fabric(Source::node_link, text)), kArcs);
  }
  EXPECT_THAT(arcs_of(import_fabric(Source::node_link, with(kNodeLink, "25.0", "\"200 Gb/s\""))),
              Contains("a -> s 25"));
}

TEST(ImportGraph, NumbersAreExact) {
  const std::string text = with(kNodeLink, "25.0", "370.80000000000001");
  EXPECT_THAT(arcs_of(import_fabric(Source::node_link, text)),
              Contains("a -> s 37080000000000001/100000000000000"));
}

TEST(ImportGraph, GpusAreNamedByAPattern) {
  const std::string text = "src,dst,bandwidth\ngpu0,sw,5\ngpu1,sw,5\n";
  const Imported all = import_valid(Source::csv, text);
  EXPECT_THAT(all.report.guesses, Contains(HasSubstr("every node is a GPU")));
  EXPECT_EQ(import_fabric(Source::csv, text).ranks.size(), 3U);
  EXPECT_EQ(import_fabric(Source::csv, text, {.compute = "gpu*"}).ranks.size(), 2U);
  EXPECT_EQ(import_fabric(Source::csv, text, {.compute = "g?u?"}).ranks.size(), 2U);
}

TEST(ImportGraph, LinesOfCsvAreOneDirectionOrBoth) {
  const auto both = import_valid(Source::csv, "src,dst,bandwidth\na,b,5\nb,c,5\n");
  EXPECT_THAT(both.report.guesses, Contains(HasSubstr("every line is both directions")));
  const std::string ring = "src,dst,bandwidth\na,b,5\nb,c,5\nc,a,5\n";
  EXPECT_THAT(import_valid(Source::csv, ring).report.guesses,
              Contains(HasSubstr("every line is one direction")));
  EXPECT_EQ(arcs_of(import_fabric(Source::csv, ring)).size(), 3U);
  const std::string pairs = "src,dst,bandwidth\na,b,5\nb,a,5\n";
  EXPECT_THAT(arcs_of(import_fabric(Source::csv, pairs)), ElementsAre("a -> b 5", "b -> a 5"));
  const std::string said = "src,dst,bandwidth,duplex\na,b,5,full\nb,c,5,simplex\nc,a,5,full\n";
  EXPECT_EQ(arcs_of(import_fabric(Source::csv, said)).size(), 5U);
  EXPECT_THAT(import_valid(Source::csv, said).report.guesses,
              ElementsAre(HasSubstr("every node is a GPU")));
}

TEST(ImportGraph, ParallelEdgesAddUp) {
  const std::string dot = "graph { a -- b [bandwidth=5]; a -- b [bandwidth=7, count=2] }";
  EXPECT_THAT(arcs_of(import_fabric(Source::dot, dot)), ElementsAre("a -> b 19", "b -> a 19"));
}

TEST(ImportGraph, DisabledPartsStayOutOfTheDigraph) {
  const std::string dot =
      "graph { a -- b [bandwidth=5]; a -- b [bandwidth=7, enabled=false]; c [enabled=0] }";
  EXPECT_THAT(arcs_of(import_fabric(Source::dot, dot)), ElementsAre("a -> b 5", "b -> a 5"));
}

TEST(ImportGraph, WrongValuesAreRefusedWithTheirPlace) {
  const auto errors = [](const std::string& what, const std::string& by) {
    return import_errors(Source::node_link, with(kNodeLink, what, by));
  };
  EXPECT_THAT(errors("25.0", "0"), ElementsAre("I03 /links/0"));
  EXPECT_THAT(errors("25.0", "-5"), ElementsAre("I03 /links/0"));
  EXPECT_THAT(errors("25.0", "\"25 apples\""), ElementsAre("I03 /links/0"));
  EXPECT_THAT(errors("\"bandwidth\":25.0,", ""), ElementsAre("I05 /links/0"));
  EXPECT_THAT(errors("0.5", "-1"), ElementsAre("I03 /links/0"));
  EXPECT_THAT(errors("\"switch\"", "\"router\""), ElementsAre("I03 /nodes/2"));
  EXPECT_THAT(errors("\"type\":\"switch\",", ""), ElementsAre("I05"));
  EXPECT_THAT(errors("\"rank\":1", "\"rank\":-1"), ElementsAre("I03 /nodes/0"));
  EXPECT_THAT(errors("\"multicast\":true", "\"multicast\":\"maybe\""), ElementsAre("I03 /nodes/2"));
  EXPECT_THAT(errors("{\"id\":\"a\",", "{"), ElementsAre("I02 /nodes/0"));
  EXPECT_THAT(errors("\"source\":\"a\",", ""), ElementsAre("I02 /links/0"));
  EXPECT_THAT(errors("\"id\":\"a\"", "\"id\":\"a[0-9]\""), Contains("I03 /nodes/0"));
  EXPECT_THAT(errors("\"id\":\"a\"", "\"id\":\"\""), Contains("I03 /nodes/0"));
  EXPECT_THAT(errors("\"kind\":\"nvlink\"", "\"count\":0"), ElementsAre("I03 /links/0"));
  EXPECT_THAT(errors("\"kind\":\"nvlink\"", "\"duplex\":\"half\""), ElementsAre("I03 /links/0"));
  EXPECT_THAT(errors("\"nodes\"", "\"knots\""), ElementsAre("I01"));
  EXPECT_THAT(import_errors(Source::node_link, kNodeLink.substr(0, 200)),
              ElementsAre(HasSubstr("E01 ")));
  EXPECT_EQ(arcs_of(import_fabric(Source::node_link, with(kNodeLink, "\"bandwidth\":25.0,", ""),
                                  {.bandwidths = {{"link", Ratio(4)}}})),
            (std::vector<std::string>{"a -> s 4", "b -> s 4", "s -> a 4", "s -> b 4"}));
  EXPECT_THAT(import_errors(Source::node_link, kNodeLink, {.boxes = 2, .fabric = "rail"}),
              ElementsAre("I08"));
}

TEST(ImportGraph, BrokenJsonGraphsAreRefused) {
  const auto errors = [](const std::string& what, const std::string& by) {
    return import_errors(Source::json_graph, with(kJsonGraph, what, by));
  };
  EXPECT_THAT(errors("\"graph\"", "\"graphs\""), ElementsAre("I01"));
  EXPECT_THAT(errors("\"nodes\":{", "\"knots\":{"), ElementsAre("I02 /graph"));
  EXPECT_THAT(errors("\"source\":\"a\",", ""), ElementsAre("I02 /graph/edges/0"));
  EXPECT_THAT(errors("\"b\":{\"metadata\":{\"type\":\"compute\"}}", "\"b\":3"),
              ElementsAre("I02 /graph/nodes/b"));
  EXPECT_THAT(import_errors(Source::json_graph, R"({"graph":{"nodes":[{"x":1}],"edges":[]}})"),
              ElementsAre("I02 /graph/nodes/0"));
}

TEST(ImportGraph, BrokenGraphmlIsRefused) {
  const auto errors = [](const std::string& what, const std::string& by) {
    return import_errors(Source::graphml, with(kGraphml, what, by));
  };
  EXPECT_THAT(errors("target=\"s\"", "target=\"z\""), ElementsAre(HasSubstr("I02 1:")));
  EXPECT_THAT(errors("<graph edge", "<graph/><graph edge"), ElementsAre(HasSubstr("I02 1:")));
  EXPECT_THAT(errors("<node id=\"b\">", "<hyperedge/><node id=\"b\">"),
              ElementsAre(HasSubstr("I02 1:")));
  EXPECT_THAT(errors("<node id=\"b\">", "<node id=\"b\"><graph/>"), Contains(HasSubstr("I02 1:")));
  EXPECT_THAT(errors("1000/3", "much"), ElementsAre(HasSubstr("I03 1:")));
  EXPECT_THAT(errors("</graphml>", ""), ElementsAre(HasSubstr("I02 1:")));
  EXPECT_THAT(import_errors(Source::graphml, "<topology/>"), ElementsAre("I01"));
}

TEST(ImportGraph, BrokenDotIsRefused) {
  EXPECT_THAT(import_errors(Source::dot, "graph { a -- "), ElementsAre("I02"));
  EXPECT_THAT(import_errors(Source::dot, "graph { a -> b [bandwidth=1] }"), ElementsAre("I02"));
  EXPECT_THAT(import_errors(Source::dot, "graph { a -- b }"), ElementsAre("I05"));
  EXPECT_THAT(import_errors(Source::dot, "graph { a -- b [label=<<b>] }"),
              ElementsAre(HasSubstr("I02 1:")));
}

TEST(ImportGraph, DotThatWouldRunAwayIsRefusedBeforehand) {
  EXPECT_THAT(import_errors(Source::dot, "graph {" + std::string(100'000, '{')),
              ElementsAre(HasSubstr("I02 1:")));
  EXPECT_THAT(import_messages(Source::dot, "graph { {a b} -- {c d} [bandwidth=1] }"),
              HasSubstr("a whole subgraph"));
  EXPECT_THAT(import_errors(Source::dot, "graph { a -- /* x */ subgraph c { d } [bandwidth=1] }"),
              ElementsAre("I02 1:11"));
  EXPECT_THAT(import_errors(Source::dot, "graph { \"{{\" -- \"-- {\" [bandwidth=1] }"),
              ElementsAre("imported"));
  EXPECT_THAT(arcs_of(import_fabric(Source::dot,
                                    "graph { subgraph c { a; b } a -- b -- a [bandwidth=1] }")),
              ElementsAre("a -> b 2", "b -> a 2"));
}

TEST(ImportGraph, BrokenCsvIsRefusedWithItsPlace) {
  const auto errors = [](const std::string& what, const std::string& by) {
    return import_errors(Source::csv, with(kCsv, what, by));
  };
  EXPECT_THAT(errors("src,", "start,"), ElementsAre("I01 1:1"));
  EXPECT_THAT(errors("a,s,25,", "a,s,"), ElementsAre("I02 3:1"));
  EXPECT_THAT(errors("a,s,25,", "a,s,,"), ElementsAre("I05 3:1"));
  EXPECT_THAT(errors("a,s,25,", "a,s,x,"), ElementsAre("I03 3:1"));
  EXPECT_THAT(errors("a,s,25,", ",s,25,"), Contains("I03 3:1"));
  EXPECT_THAT(errors("\"b\"", "\"b"), ElementsAre(HasSubstr("I02 ")));
  EXPECT_EQ(arcs_of(import_fabric(Source::csv, with(kCsv, "\n", "\r\n"))), kArcs);
}

TEST(ImportGraph, EntriesWithRangesSayWhatTheLinksSaid) {
  // A star, a mesh, pairs and a link of its own: expanded again, they are what they were.
  std::string dot = "graph { node [type=compute]; nvsw [type=switch]; x [type=switch];\n";
  for (int a = 0; a < 6; ++a) {
    dot += fmt::format("g{} -- nvsw [bandwidth=10]; g{} -- n{} [bandwidth=3];\n", a, a, a);
    dot += fmt::format("n{} -- x [bandwidth=2, latency=1];\n", a);
    for (int b = a + 1; b < 6; ++b) dot += fmt::format("g{} -- g{} [bandwidth=4];\n", b, a);
  }
  dot += "g5 -- x [bandwidth=99]; x -- nvsw [bandwidth=98] }";
  const Imported imported = import_valid(Source::dot, dot);
  EXPECT_LT(imported.document.top.links.size(), 16U);
  const auto arcs = arcs_of(testing::parse_valid(to_topology_json(imported.document)));
  EXPECT_EQ(arcs.size(), 2U * (6 + 6 + 6 + 15 + 2));
  EXPECT_THAT(arcs,
              AllOf(Contains("g5 -> g0 4"), Contains("g0 -> n0 3"), Contains("n4 -> g4 3"),
                    Contains("x -> n3 2"), Contains("nvsw -> g5 10"), Contains("x -> g5 99")));
}

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

TEST(ImportSccl, BrokenMatricesAreRefusedWithTheirPlace) {
  EXPECT_THAT(import_errors(Source::sccl, R"({"links":[[0,1],[1]]})"), ElementsAre("I02 /links/1"));
  EXPECT_THAT(import_errors(Source::sccl, R"({"links":[[0,1],[1,"x"]]})"),
              ElementsAre("I03 /links/1/1"));
  EXPECT_THAT(import_errors(Source::sccl, R"({"links":[[0,-1],[1,0]]})"),
              ElementsAre("I03 /links/0/1"));
  EXPECT_THAT(import_errors(Source::sccl, R"({"links":3})"), ElementsAre("I01"));
  EXPECT_THAT(
      import_errors(Source::sccl, R"({"links":[[0,1],[1,0]],"switches":[[[0],[1],1,"s"]]})"),
      ElementsAre("I08 /switches"));
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
  EXPECT_EQ(arcs_of(import_fabric(Source::astra_sim, yml("Ring", 2))).size(), 2U);
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

// NCCL's own rings.

const std::string kGraphs =
    "<graphs version=\"1\">\n<graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"2\" "
    "speedintra=\"12.5\" speedinter=\"10\">\n<channel><net dev=\"1\"/><gpu dev=\"0\"/>"
    "<gpu dev=\"2\"/><gpu dev=\"1\"/><net dev=\"3\"/></channel>\n<channel><gpu dev=\"2\"/>"
    "<gpu dev=\"0\"/><gpu dev=\"1\"/></channel></graph>\n<graph id=\"1\" pattern=\"1\" "
    "speedintra=\"6\" speedinter=\"6\"/></graphs>\n";

TEST(NcclGraphs, ChannelsListTheirDevices) {
  const auto graphs = read_nccl_graph(kGraphs, "graph.xml");
  ASSERT_TRUE(graphs);
  ASSERT_EQ(graphs->size(), 2U);
  const NcclGraph& ring = graphs->front();
  EXPECT_EQ(ring.id, 0);
  EXPECT_EQ(ring.pattern, 4);
  EXPECT_EQ(ring.speed_intra, Ratio(25, 2));
  EXPECT_EQ(ring.speed_inter, Ratio(10));
  ASSERT_EQ(ring.channels.size(), 2U);
  EXPECT_THAT(ring.channels[0].gpus, ElementsAre(0, 2, 1));
  EXPECT_EQ(ring.channels[0].net_in, 1);
  EXPECT_EQ(ring.channels[0].net_out, 3);
  EXPECT_EQ(ring.channels[1].net_in, std::nullopt);
  EXPECT_THAT(graphs->back().channels, IsEmpty());
}

TEST(NcclGraphs, BrokenOnesAreRefused) {
  const auto errors = [](const std::string& text) {
    const auto graphs = read_nccl_graph(text, "graph.xml");
    return graphs ? std::vector<std::string>{"read"} : testing::codes_of(graphs.errors());
  };
  EXPECT_THAT(errors("<system/>"), ElementsAre("I01"));
  EXPECT_THAT(errors(with(kGraphs, "gpu dev=\"2\"", "gpu dev=\"x\"")), ElementsAre("I03 3:39"));
  EXPECT_THAT(errors(with(kGraphs, "speedintra=\"12.5\"", "speedintra=\"-1\"")),
              ElementsAre("I03 2:2"));
  EXPECT_THAT(errors(with(kGraphs, "pattern=\"1\"", "")), ElementsAre("I03 5:2"));
  EXPECT_THAT(errors(with(kGraphs, "</channel></graph>", "</channel><channel/></graph>")),
              ElementsAre(HasSubstr("I02 4:")));
  EXPECT_THAT(errors(kGraphs.substr(0, 100)), ElementsAre(HasSubstr("I02 ")));
  EXPECT_THAT(errors(""), ElementsAre("E01"));
  EXPECT_THAT(import_errors(Source::nccl_graph, kGraphs), ElementsAre("I08"));
  EXPECT_EQ(detect_source(kGraphs), Source::nccl_graph);
}

// Detection and the table of bandwidths.

TEST(ImportSources, HaveNamesThatFindThem) {
  for (const SourceInfo& info : import_sources()) {
    EXPECT_EQ(find_source(info.name), info.source);
    EXPECT_EQ(info_of(info.source).name, info.name);
  }
  EXPECT_EQ(find_source("visio"), std::nullopt);
}

TEST(ImportSources, ContentTells) {
  EXPECT_EQ(detect_source("<!-- c -->\n<system version=\"2\">"), Source::nccl);
  EXPECT_EQ(detect_source("<?xml version='1.0'?><!DOCTYPE topology><topology>"), Source::hwloc);
  EXPECT_EQ(detect_source("#\n# Topology file: generated\n#\nvendid=0x2c9\n"),
            Source::ibnetdiscover);
  EXPECT_EQ(detect_source("# x\nSwitchName=s0 Nodes=a\n"), Source::slurm);
  EXPECT_EQ(detect_source("\t\tGPU0\tGPU1\n"), Source::nvidia_smi);
  EXPECT_EQ(detect_source("strict digraph x {}"), Source::dot);
  EXPECT_EQ(detect_source("source,target,capacity\n"), Source::csv);
  for (const std::string text :
       {"", "{", "[]", "{\"format\":\"forestcoll-topology\",\"nodes\":[],\"edges\":[]}", "<html>",
        "<", "graph theory", "GPU", "1 2 3\nfoo", "{\"nodes\":[],\"links\":[]}"}) {
    EXPECT_EQ(detect_source(text), std::nullopt) << text;
  }
}

TEST(ImportBandwidths, AreReadByKind) {
  const auto table = read_bandwidths("kind,bandwidth\nnvlink,25\nnic, 200 Gb/s\n", "b.csv");
  ASSERT_TRUE(table);
  EXPECT_THAT(*table, ElementsAre(std::pair("nvlink", Ratio(25)), std::pair("nic", Ratio(25))));
  const auto errors = [](const std::string& text) {
    return testing::codes_of(read_bandwidths(text, "b.csv").errors());
  };
  EXPECT_THAT(errors("nvlink,25\nwire,3\n"), ElementsAre("I03 2:1"));
  EXPECT_THAT(errors("nvlink,0\n"), ElementsAre("I03 1:1"));
  EXPECT_THAT(errors("nvlink,fast\n"), ElementsAre("I03 1:1"));
  EXPECT_THAT(errors("nvlink\n"), ElementsAre("I02 1:1"));
  EXPECT_THAT(errors("\"nvlink,25\n"), ElementsAre("I02"));
  EXPECT_THAT(errors(""), ElementsAre("E01"));
}

}  // namespace
}  // namespace forestcoll
