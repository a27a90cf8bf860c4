// Graphs of other tools, in each of their formats.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

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

TEST(ImportGraph, EdgesOfGraphmlMayStandBeforeTheirNodes) {
  const std::string node = R"(<node id="a"><data key="d0">compute</data></node>)";
  EXPECT_EQ(arcs_of(import_fabric(Source::graphml,
                                  with(with(kGraphml, node, ""), "</graph>", node + "</graph>"))),
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

TEST(ImportGraph, TheClearestNameOfABandwidthCounts) {
  const std::string text =
      "graph { a -- b [weight=1, bandwidth=3]; b -- c [capacity=5, weight=4] }";
  EXPECT_THAT(arcs_of(import_fabric(Source::dot, text)),
              ElementsAre("a -> b 3", "b -> a 3", "b -> c 5", "c -> b 5"));
  EXPECT_THAT(import_valid(Source::dot, text).report.guesses, Not(Contains(HasSubstr("weight"))));
  EXPECT_THAT(import_valid(Source::dot, "graph { a -- b [weight=4] }").report.guesses,
              Contains(HasSubstr("the weight of an edge is its GB/s")));
}

TEST(ImportGraph, EdgesEndAtNodesOfTheGraph) {
  EXPECT_THAT(
      import_errors(Source::node_link, with(kNodeLink, "\"target\":\"s\"", "\"target\":\"ss\"")),
      Contains("I02 /links/0"));
  EXPECT_THAT(
      import_messages(Source::node_link, with(kNodeLink, "\"source\":\"b\"", "\"source\":\"c9\"")),
      HasSubstr("\"c9\", which is no node"));
  EXPECT_THAT(
      import_errors(Source::json_graph, with(kJsonGraph, "\"target\":\"s\"", "\"target\":\"ss\"")),
      Contains("I02 /graph/edges/0"));
  EXPECT_THAT(
      import_messages(Source::node_link, with(kNodeLink, "{\"id\":\"s\"", "{\"id\":\"spine1\"")),
      HasSubstr("is no node of the graph"));
  EXPECT_THAT(
      import_messages(Source::node_link, with(everywhere(kNodeLink, "\"s\"", "\"spine1\""),
                                              "\"target\":\"spine1\"", "\"target\":\"spine\"")),
      HasSubstr("Did you mean \"spine1\"?"));
}

TEST(ImportGraph, ANodeStandsInAFileOnce) {
  const std::string twice = R"({"id":"a","type":"compute"},{"id":"a",)";
  EXPECT_THAT(import_errors(Source::node_link, with(kNodeLink, "{\"id\":\"a\",", twice)),
              ElementsAre("I02 /nodes/1"));
  // A number and a text are two nodes of networkx, and one name here.
  EXPECT_THAT(
      import_errors(Source::node_link, R"({"nodes":[{"id":1},{"id":"1"},{"id":2}],)"
                                       R"("edges":[{"source":1,"target":2,"bandwidth":1}]})"),
      ElementsAre("I02 /nodes/1"));
  EXPECT_THAT(import_errors(Source::json_graph,
                            R"({"graph":{"nodes":[{"id":"a"},{"id":"a"}],"edges":[]}})"),
              ElementsAre("I02 /graph/nodes/1"));
  EXPECT_THAT(import_messages(Source::graphml,
                              with(kGraphml, "<node id=\"b\">", "<node id=\"a\"/><node id=\"b\">")),
              HasSubstr("a second node has the id \"a\""));
  const std::string named = with(kGraphml, "<graph ", "<key id=\"k\" attr.name=\"id\"/><graph ");
  EXPECT_THAT(
      import_messages(Source::graphml,
                      with(named, "<node id=\"b\">",
                           "<node id=\"n\"><data key=\"k\">a</data></node><node id=\"b\">")),
      HasSubstr("a second node is called \"a\""));
}

TEST(ImportGraph, AFileThatContradictsItselfIsRefused) {
  const auto csv = [](const std::string& text) { return import_errors(Source::csv, text); };
  EXPECT_THAT(
      csv("src,dst,bandwidth,src_type,dst_type\na,b,5,compute,compute\nb,a,5,switch,compute\n"),
      ElementsAre("I03 3:1"));
  EXPECT_THAT(csv("src,dst,bandwidth,src_box\na,b,5,x\na,c,5,y\n"), ElementsAre("I03 3:1"));
  EXPECT_THAT(csv("src,dst,bandwidth,bandwidth\na,b,5,6\n"), ElementsAre("I02 1:1"));
  EXPECT_THAT(csv("src,dst,bandwidth,source\na,b,5,b\n"), ElementsAre("I02 1:1"));
  EXPECT_THAT(csv("src,dst,bandwidth,capacity\na,b,5,6\n"), ElementsAre("I03 2:1"));
  EXPECT_THAT(csv("src,dst,bandwidth,capacity\na,b,5,40 Gb/s\n"), ElementsAre("imported"));
  EXPECT_THAT(import_errors(Source::node_link, with(kNodeLink, "25.0", "25.0,\"capacity\":50")),
              ElementsAre("I03 /links/0"));
  EXPECT_THAT(
      import_errors(Source::json_graph, with(kJsonGraph, "\"metadata\":{\"bandwidth\":25}",
                                             "\"bandwidth\":50,\"metadata\":{\"bandwidth\":25}")),
      ElementsAre("I03 /graph/edges/0"));
  EXPECT_THAT(
      import_errors(Source::node_link, with(kNodeLink, "\"nodes\"", "\"edges\":[],\"nodes\"")),
      ElementsAre("I02"));
  EXPECT_THAT(import_errors(Source::graphml, with(kGraphml, ">1000/3</data>",
                                                  ">1000/3</data><data key=\"d1\">7</data>")),
              ElementsAre(HasSubstr("I02 1:")));
  const std::string strict = "strict graph { a -- b [bandwidth=1]; b -- a [bandwidth=2] }";
  EXPECT_THAT(import_messages(Source::dot, strict), HasSubstr("in a strict graph"));
  EXPECT_THAT(arcs_of(import_fabric(Source::dot, with(strict, "strict", ""))),
              ElementsAre("a -> b 3", "b -> a 3"));
  EXPECT_THAT(arcs_of(import_fabric(Source::dot, with(strict, "b -- a", "b -- c"))),
              ElementsAre("a -> b 1", "b -> a 1", "b -> c 2", "c -> b 2"));
}

// The topology file's default.
TEST(ImportGraph, AnEmptyDuplexOfCsvIsFull) {
  EXPECT_THAT(arcs_of(import_fabric(
                  Source::csv, "src,dst,bandwidth,duplex\na,b,5,\nb,c,6,full\nc,a,7,simplex\n")),
              ElementsAre("a -> b 5", "b -> a 5", "b -> c 6", "c -> a 7", "c -> b 6"));
}

// Each is legal for Graphviz, and what it says there.
TEST(ImportGraph, DotIsReadAsGraphvizReadsIt) {
  for (const auto& [text, arcs] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"GRAPH { EDGE [bandwidth=3]; a -- b }", {"a -> b 3", "b -> a 3"}},
           {"Strict DiGraph x { a -> b [bandwidth=3]; b -> a [bandwidth=4] }",
            {"a -> b 3", "b -> a 4"}},
           {"graph { a [label=<<b>\"x\\\\\"</b>>]; a -- b [bandwidth=3] }",
            {"a -> b 3", "b -> a 3"}},
           {"graph { é -- Ü [bandwidth=3] }", {"Ü -> é 3", "é -> Ü 3"}},
           {"graph { \"a\\\nb\" -- c [bandwidth=3] }", {"ab -> c 3", "c -> ab 3"}},
           {"graph { a -- b [bandwidth=3] } // the end", {"a -> b 3", "b -> a 3"}},
           {"digraph { a -> b [bandwidth=3, dir=both] }", {"a -> b 3", "b -> a 3"}},
           {"digraph { edge [dir=none]; a -> b [bandwidth=3] }", {"a -> b 3", "b -> a 3"}},
           {"digraph { a -> b [bandwidth=3]; a -> b [bandwidth=4, dir=back] }",
            {"a -> b 3", "b -> a 4"}},
           {"graph { a -- b [bandwidth=3, dir=back]; a -- b [bandwidth=4, dir=forward] }",
            {"a -> b 4", "b -> a 3"}}}) {
    EXPECT_EQ(detect_source(text), Source::dot) << text;
    EXPECT_EQ(arcs_of(import_fabric(Source::dot, text)), arcs) << text;
  }
}

TEST(ImportGraph, ColumnsHaveCommasBetweenThem) {
  EXPECT_EQ(
      arcs_of(import_fabric(Source::csv, with(kCsv, "src,dst,bandwidth", "Src,DST,Bandwidth"))),
      kArcs);
  for (const auto& [mark, name] : {std::pair(";", "semicolons"), {"\t", "tabs"}, {"|", "bars"}}) {
    const std::string text = everywhere("Src,Dst,bandwidth\na,b,5\n", ",", mark);
    EXPECT_EQ(detect_source(text), Source::csv) << name;
    EXPECT_THAT(import_messages(Source::csv, text),
                AllOf(HasSubstr("[I01]"), HasSubstr(name), HasSubstr("with commas")));
  }
  EXPECT_EQ(detect_source("from a to b, the cables are\n"), std::nullopt);
}

// Of graphs that are no fabric: what the file lacks, not what the topology made of it lacks.
TEST(ImportGraph, GraphsThatAreNoFabricAreRefused) {
  EXPECT_THAT(import_errors(Source::csv, "src,dst,bandwidth\n"), ElementsAre("I06"));
  EXPECT_THAT(import_errors(Source::dot, "graph { a; b }"), ElementsAre("I07", "I23"));
  EXPECT_THAT(import_errors(Source::csv, "src,dst,bandwidth\na,b,5\nb,b,5\n"),
              ElementsAre("I02 3:1"));
}

TEST(ImportGraph, GraphmlMayDeclareItsGrammar) {
  const std::string text =
      with(kGraphml, "<graphml>", "<!DOCTYPE graphml [<!ENTITY a \"a>]\"> <!-- > -->]>\n<graphml>");
  EXPECT_EQ(detect_source(text), Source::graphml);
  EXPECT_EQ(arcs_of(import_fabric(Source::graphml, text)), kArcs);
}

TEST(ImportGraph, NumbersAreExact) {
  const std::string text = with(kNodeLink, "25.0", "370.80000000000001");
  EXPECT_THAT(arcs_of(import_fabric(Source::node_link, text)),
              Contains("a -> s 37080000000000001/100000000000000"));
}

// As tools of Windows write them.
TEST(ImportGraph, AByteOrderMarkMayStandBefore) {
  const std::string mark = "\xEF\xBB\xBF";
  for (const auto& [text, source] : {std::pair(kNodeLink, Source::node_link),
                                     {kJsonGraph, Source::json_graph},
                                     {kGraphml, Source::graphml},
                                     {kDot, Source::dot},
                                     {kCsv, Source::csv}}) {
    EXPECT_EQ(detect_source(mark + text), source);
    EXPECT_TRUE(check_text(mark + text, "marked"));
    EXPECT_EQ(arcs_of(import_fabric(source, mark + text)), arcs_of(import_fabric(source, text)));
  }
  const auto wide = check_text(std::string("\xFF\xFEs\0r\0", 6), "wide");
  ASSERT_FALSE(wide);
  EXPECT_THAT(wide.errors().front().message, HasSubstr("UTF-16"));
  EXPECT_THAT(wide.errors().front().remedy, HasSubstr("UTF-8"));
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
  EXPECT_THAT(both.report.guesses,
              Contains(HasSubstr("every line is both directions, as along them not all nodes")));
  const std::string ring = "src,dst,bandwidth\na,b,5\nb,c,5\nc,a,5\n";
  EXPECT_THAT(import_valid(Source::csv, ring).report.guesses,
              Contains(HasSubstr("every line is one direction, as all nodes reach each other")));
  EXPECT_EQ(arcs_of(import_fabric(Source::csv, ring)).size(), 3U);
  const std::string pairs = "src,dst,bandwidth\na,b,5\nb,a,5\n";
  EXPECT_THAT(arcs_of(import_fabric(Source::csv, pairs)), ElementsAre("a -> b 5", "b -> a 5"));
  EXPECT_THAT(import_valid(Source::csv, pairs).report.guesses,
              Contains(HasSubstr("every line is one direction, as one leads back")));
  const std::string said = "src,dst,bandwidth,duplex\na,b,5,full\nb,c,5,simplex\nc,a,5,full\n";
  EXPECT_EQ(arcs_of(import_fabric(Source::csv, said)).size(), 5U);
  EXPECT_THAT(import_valid(Source::csv, said).report.guesses,
              ElementsAre(HasSubstr("every node is a GPU")));
}

TEST(ImportGraph, ParallelEdgesAddUp) {
  const std::string dot = "graph { a -- b [bandwidth=5]; a -- b [bandwidth=7, count=2] }";
  EXPECT_THAT(arcs_of(import_fabric(Source::dot, dot)), ElementsAre("a -> b 19", "b -> a 19"));
}

TEST(ImportGraph, BitsASecondAsPeopleWriteThem) {
  for (const std::string text : {"100Gbps", "100 Gb/s", "100 Gbps", "12.5"}) {
    EXPECT_THAT(arcs_of(import_fabric(Source::csv, "src,dst,bandwidth\na,b," + text + "\n")),
                ElementsAre("a -> b 25/2", "b -> a 25/2"))
        << text;
  }
  EXPECT_THAT(import_errors(Source::csv, "src,dst,bandwidth\na,b,100gbit\n"),
              ElementsAre("I03 2:1"));
}

TEST(ImportGraph, CablesAreThoseOfTheSumAndCountMultiplies) {
  const std::string dot =
      "graph { a -- b [bandwidth=300, cables=12]; b -- c [bandwidth=6, count=2, cables=3] }";
  const Topology topology = import_fabric(Source::dot, dot);
  EXPECT_THAT(arcs_of(topology), ElementsAre("a -> b 300", "b -> a 300", "b -> c 12", "c -> b 12"));
  EXPECT_EQ(topology.links[LinkId(0)].count, 12);
  EXPECT_EQ(topology.links[LinkId(1)].count, 6);
  for (const std::string cables :
       {"0", "-1", "1.5", "x", "9223372036854775807, bandwidth=\"1/3\""}) {
    EXPECT_THAT(import_errors(Source::dot, "graph { a -- b [bandwidth=1, cables=" + cables + "] }"),
                ElementsAre("I03"))
        << cables;
  }
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
  EXPECT_THAT(errors("\"multicast\":true", "\"echo\":2"), ElementsAre("I03 /nodes/2"));
  EXPECT_THAT(errors("{\"id\":\"a\",", "{"), Contains("I02 /nodes/0"));
  EXPECT_THAT(errors("\"source\":\"a\",", ""), ElementsAre("I02 /links/0"));
  EXPECT_THAT(errors("\"id\":\"a\"", "\"id\":\"a[0-9]\""), Contains("I03 /nodes/0"));
  EXPECT_THAT(errors("\"id\":\"a\"", "\"id\":\"\""), Contains("I03 /nodes/0"));
  EXPECT_THAT(errors("\"kind\":\"nvlink\"", "\"count\":0"), ElementsAre("I03 /links/0"));
  EXPECT_THAT(errors("\"kind\":\"nvlink\"", "\"duplex\":\"half\""), ElementsAre("I03 /links/0"));
  EXPECT_THAT(errors("\"nvlink\"", R"("nv\u001blink")"), ElementsAre("I03 /links/0"));
  EXPECT_THAT(errors("\"id\":\"a\"", R"("id":"a\u0085")"), Contains("I03 /nodes/0"));
  EXPECT_THAT(errors("\"id\":\"a\"", R"("id":"a","box":"b\nc")"), Contains("I03 /nodes/0"));
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
              Contains("I02 /graph/nodes/b"));
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
  const auto arcs = arcs_of(parse_valid(to_topology_json(imported.document)));
  EXPECT_EQ(arcs.size(), 2U * (6 + 6 + 6 + 15 + 2));
  EXPECT_THAT(arcs,
              AllOf(Contains("g5 -> g0 4"), Contains("g0 -> n0 3"), Contains("n4 -> g4 3"),
                    Contains("x -> n3 2"), Contains("nvsw -> g5 10"), Contains("x -> g5 99")));
}

}  // namespace
}  // namespace forestcoll::testing
