// Forest JSON against its schema and by content, the tree XML, and Graphviz.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT: mkstemp is POSIX

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <random>
#include <set>
#include <string>

#include "emit/fabric.hpp"
#include "forest/route_table.hpp"
#include "forest/symmetry.hpp"
#include "forestcoll/emit.hpp"
#include "schedule/forests.hpp"
#include "support/files.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#pragma GCC diagnostic pop

namespace forestcoll::testing {
namespace {

using nlohmann::json;

bool is_valid(const json& document) {
  static const json schema_json =
      json::parse(test::read_file(test::source_path("tools/schema/forestcoll-forest.schema.json")));
  static const valijson::Schema& schema = *[] {
    auto* made = new valijson::Schema;
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json),
                                            *made);
    return made;
  }();
  valijson::Validator validator;
  return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
}

CollectiveForest sample(Collective collective, int n = 4) {
  std::mt19937 random(5);
  const auto roots = roots_of(collective, n, 1);
  const Forest forest = make_forest(n, random_trees(n, 3, roots, random), n);
  return collective_of(collective, 3, forest, forest, 1);
}

// Every tree spans, every edge is on its path, and every edge comes after those that feed it.
void expect_trees(const json& trees, const json& ranks, bool in_trees) {
  std::map<std::string, int> multiplicities;
  for (const json& tree : trees) {
    multiplicities[tree["root"]] += tree["multiplicity"].get<int>();
    ASSERT_EQ(tree["edges"].size(), ranks.size() - 1);
    std::set<std::string> reached = {tree["root"]}, left;
    for (const json& edge : tree["edges"]) {
      EXPECT_EQ(edge["path"].front(), edge["src"]);
      EXPECT_EQ(edge["path"].back(), edge["dst"]);
      EXPECT_EQ(edge["path"].size(), 3u);
      EXPECT_EQ(edge["path"][1], "sw");
      if (in_trees) {
        EXPECT_TRUE(left.insert(edge["src"]).second);
        EXPECT_FALSE(left.contains(edge["dst"])) << "the receiver has sent already";
        reached.insert(edge["src"]);
      } else {
        EXPECT_TRUE(reached.contains(edge["src"])) << "the sender has nothing yet";
        EXPECT_TRUE(reached.insert(edge["dst"]).second);
      }
    }
    EXPECT_EQ(reached.size(), ranks.size());
  }
  for (const auto& [root, sum] : multiplicities) EXPECT_EQ(sum, 3) << root;
}

TEST(ForestJson, EveryCollective) {
  for (const Collective collective : all_collectives()) {
    const auto text = to_forest_json(sample(collective), switched(4));
    const json document = json::parse(text);
    EXPECT_TRUE(is_valid(document)) << text;
    EXPECT_EQ(document["collective"], to_string(collective));
    EXPECT_EQ(document["topology"], "star");
    EXPECT_EQ(document["k"], 3);
    EXPECT_EQ(document["algbw"]["exact"], "100/3");
    EXPECT_DOUBLE_EQ(document["algbw"]["value"].get<double>(), 100.0 / 3);
    EXPECT_EQ(document["optimum"]["exact"], "50");
    EXPECT_EQ(document["ranks"], json({"gpu0", "gpu1", "gpu2", "gpu3"}));
    EXPECT_EQ(document.value("root", ""), is_rooted(collective) ? "gpu1" : "");
    if (collective == Collective::allreduce) {
      expect_trees(document["reduce"], document["ranks"], true);
      expect_trees(document["broadcast"], document["ranks"], false);
    } else {
      expect_trees(document["trees"], document["ranks"],
                   collective == Collective::reduce_scatter || collective == Collective::reduce);
    }
  }
}

TEST(ForestJson, EdgesAreTheTrees) {
  const Forest forest = make_forest(3, {path(3, 0), star(3, 1), star(3, 2)}, 3);
  const auto gather = collective_of(Collective::allgather, 1, forest, forest);
  const auto trees = json::parse(to_forest_json(gather, switched(3)))["trees"];
  EXPECT_EQ(trees[0], json::parse(R"({"root":"gpu0","multiplicity":1,"height":2,"edges":[
      {"src":"gpu0","dst":"gpu1","path":["gpu0","sw","gpu1"]},
      {"src":"gpu1","dst":"gpu2","path":["gpu1","sw","gpu2"]}]})"));
  const auto scatter = collective_of(Collective::reduce_scatter, 1, forest, forest);
  const auto in_trees = json::parse(to_forest_json(scatter, switched(3)))["trees"];
  EXPECT_EQ(in_trees[0], json::parse(R"({"root":"gpu0","multiplicity":1,"height":2,"edges":[
      {"src":"gpu2","dst":"gpu1","path":["gpu2","sw","gpu1"]},
      {"src":"gpu1","dst":"gpu0","path":["gpu1","sw","gpu0"]}]})"));
}

// A star from rank 0 over the switch, and its images as the ranks go round.
Forest turning_stars() {
  RouteTable table({NodeId(0), NodeId(1), NodeId(2), NodeId(3)});
  const std::vector<NodeId> up = {NodeId(4)};
  const PrefixId at_switch = table.extend(PrefixId(0), table.add_segment(up));
  std::vector<Route> routes(1);
  for (int v = 1; v < 4; ++v) {
    const std::vector<NodeId> down = {NodeId(v)};
    routes.push_back({at_switch, table.add_segment(down)});
  }
  Symmetry::Generator turn{4, Action<NodeId>::Image(5), Action<Rank>::Image(4)};
  for (int v = 0; v < 4; ++v) {
    turn.nodes[NodeId(v)] = NodeId((v + 1) % 4);
    turn.ranks[Rank(v)] = Rank((v + 1) % 4);
  }
  turn.nodes[NodeId(4)] = NodeId(4);
  return Forest(std::move(table), {{Rank(0), 3, 1}}, std::move(routes), Symmetry({turn}), 1);
}

TEST(ForestJson, SymmetricNamesBaseTreesAndCycles) {
  const Forest stars = turning_stars();
  ASSERT_EQ(stars.tree_count(), 4u);
  const auto gather = collective_of(Collective::allgather, 3, stars, stars);
  const json whole = json::parse(to_forest_json(gather, switched(4)));
  ASSERT_TRUE(is_valid(whole));
  expect_trees(whole["trees"], whole["ranks"], false);

  const json document = json::parse(to_symmetric_forest_json(gather, switched(4)));
  EXPECT_TRUE(is_valid(document)) << document;
  EXPECT_EQ(document["version"], 2);
  EXPECT_EQ(document["symmetry"]["trees"],
            json::parse(R"([{"order":4,"cycles":[["gpu0","gpu1","gpu2","gpu3"]]}])"));
  ASSERT_EQ(document["trees"].size(), 1u);
  EXPECT_EQ(document["trees"][0]["images"], true);
  EXPECT_EQ(document["trees"][0]["edges"], whole["trees"][0]["edges"]);
}

TEST(ForestJson, SymmetricOfAPlainForestHoldsAllTrees) {
  const auto plain = sample(Collective::allreduce);
  const json document = json::parse(to_symmetric_forest_json(plain, switched(4)));
  EXPECT_TRUE(is_valid(document)) << document;
  EXPECT_EQ(document["symmetry"], json::parse(R"({"reduce":[],"broadcast":[]})"));
  EXPECT_EQ(document["reduce"], json::parse(to_forest_json(plain, switched(4)))["reduce"]);
}

TEST(ForestJson, KeysInDocumentedOrderAndOneTreePerLine) {
  const std::string text = to_forest_json(sample(Collective::broadcast), switched(4));
  std::size_t at = 0;
  for (const char* key : {"\"format\"", "\"version\"", "\"topology\"", "\"collective\"", "\"root\"",
                          "\"k\"", "\"algbw\"", "\"optimum\"", "\"ranks\"", "\"trees\""}) {
    const std::size_t found = text.find(key);
    ASSERT_NE(found, std::string::npos) << key;
    EXPECT_GE(found, at) << key;
    at = found;
  }
  const auto trees = json::parse(text)["trees"].size();
  std::size_t lines = 0;
  for (std::size_t i = text.find("{\"root\":"); i != std::string::npos;
       i = text.find("\n{\"root\":", i + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, trees);
  EXPECT_EQ(text.back(), '\n');
}

TEST(ForestJson, StrangeNames) {
  Topology topology = switched(2, "a \"b\"\\\n\x01");
  topology.nodes[NodeId(0)].id = "gpü\"0\"\t";
  topology.nodes[NodeId(1)].id = "not \xff UTF-8";
  const auto forest = shaped(Collective::allgather, 2, 1, star);
  const json document = json::parse(to_forest_json(forest, topology));
  EXPECT_EQ(document["topology"], "a \"b\"\\\n\x01");
  EXPECT_EQ(document["ranks"][0], "gpü\"0\"\t");
  EXPECT_EQ(document["ranks"][1], "not \xEF\xBF\xBD UTF-8");
}

TEST(ForestJson, SchemaRefusesWhatIsWrong) {
  const json good = json::parse(to_forest_json(sample(Collective::allreduce), switched(4)));
  ASSERT_TRUE(is_valid(good));
  const auto broken = [&](const std::string& pointer, const json& value) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    return !is_valid(bad);
  };
  EXPECT_TRUE(broken("/format", "forest"));
  EXPECT_TRUE(broken("/version", 2));
  EXPECT_TRUE(broken("/collective", "alltoall"));
  EXPECT_TRUE(broken("/collective", "allgather"));  // which has "trees"
  EXPECT_TRUE(broken("/trees", json::array()));
  EXPECT_TRUE(broken("/root", "gpu0"));
  EXPECT_TRUE(broken("/k", 0));
  EXPECT_TRUE(broken("/k", 1.5));
  EXPECT_TRUE(broken("/algbw/exact", "1.5"));
  EXPECT_TRUE(broken("/algbw/value", "1.5"));
  EXPECT_TRUE(broken("/ranks", json::array()));
  EXPECT_TRUE(broken("/reduce/0/multiplicity", 0));
  EXPECT_TRUE(broken("/reduce/0/edges/0/path", json({"gpu0"})));
  EXPECT_TRUE(broken("/broadcast/0/edges/0/extra", 1));
  json rootless = json::parse(to_forest_json(sample(Collective::reduce), switched(4)));
  ASSERT_TRUE(is_valid(rootless));
  rootless.erase("root");
  EXPECT_FALSE(is_valid(rootless));
}

// A thousand ranks, a million edges: linear, without a document in memory.
TEST(ForestJsonLong, MillionEdges) {
  const int n = 1024;
  std::vector<ParentTree> trees;
  for (int r = 0; r < n; ++r) trees.push_back(star(n, r));
  const Forest forest = make_forest(n, trees, n);
  const std::string text =
      to_forest_json(collective_of(Collective::allgather, 1, forest, forest), switched(n));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), n + 6);
}

TEST(ForestXml, TreesAndSends) {
  const Forest forest = make_forest(3, {path(3, 0), star(3, 1, 2), star(3, 0), star(3, 2, 2)}, 3);
  const auto gather = collective_of(Collective::allgather, 2, forest, forest);
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(to_forest_xml(gather, switched(3)).c_str()));
  const auto trees = document.child("trees");
  EXPECT_EQ(trees.attribute("nchunkspernode").as_int(), 2);
  std::vector<std::string> heads;
  for (const auto& tree : trees.children("tree")) {
    heads.push_back(std::string(tree.attribute("root").value()) + " " +
                    tree.attribute("index").value() + " " + tree.attribute("nchunks").value() +
                    " " + tree.attribute("height").value());
    EXPECT_TRUE(tree.attribute("phase").empty());
    EXPECT_EQ(std::distance(tree.begin(), tree.end()), 2);
  }
  EXPECT_THAT(heads,
              ::testing::ElementsAre("gpu0 0 1 2", "gpu0 1 1 1", "gpu1 0 2 1", "gpu2 0 2 1"));
  const auto send = trees.child("tree").last_child();
  EXPECT_STREQ(send.attribute("src").value(), "gpu1");
  EXPECT_STREQ(send.attribute("dst").value(), "gpu2");
  EXPECT_STREQ(send.attribute("path").value(), "gpu1,sw,gpu2");
}

TEST(ForestXml, AllreduceNamesItsPhases) {
  pugi::xml_document document;
  const auto text = to_forest_xml(sample(Collective::allreduce), switched(4));
  ASSERT_TRUE(document.load_string(text.c_str()));
  std::map<std::string, int> phases;
  for (const auto& tree : document.child("trees")) ++phases[tree.attribute("phase").value()];
  EXPECT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases["reduce"], phases["broadcast"]);
  EXPECT_GT(phases["reduce"], 0);
}

TEST(ForestXml, EscapesNames) {
  Topology topology = switched(2);
  topology.nodes[NodeId(0)].id = "<a&\"b\">\x01";
  pugi::xml_document document;
  const auto text = to_forest_xml(shaped(Collective::allgather, 2, 1, star), topology);
  ASSERT_TRUE(document.load_string(text.c_str()));
  EXPECT_STREQ(document.child("trees").child("tree").attribute("root").value(), "<a&\"b\">?");
}

// Graphviz itself says whether the text is right.
bool graphviz_accepts(const std::string& text) {
  std::string path = ::testing::TempDir() + "/forestcoll_dot_XXXXXX";
  const int fd = mkstemp(path.data());
  EXPECT_GE(fd, 0);
  std::FILE* file = fdopen(fd, "wb");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  const int status = std::system(("dot -Tsvg -o /dev/null " + path + " 2>/dev/null").c_str());
  std::remove(path.c_str());
  return status == 0;
}

TEST(Dot, GraphvizReadsIt) {
  for (const Collective collective : all_collectives()) {
    EXPECT_TRUE(graphviz_accepts(to_dot(sample(collective), switched(4))));
  }
  Topology topology = switched(4, "a \"quoted\\ name");
  topology.nodes[NodeId(4)].id = "sw\"\n<1>\\";
  EXPECT_TRUE(graphviz_accepts(to_dot(sample(Collective::allreduce), topology)));
  EXPECT_FALSE(graphviz_accepts("digraph {")) << "the check itself";
}

// A label's backslash begins an escape: \N alone would be the name of the node.
TEST(Dot, LabelsShowNamesAsTheyAre) {
  Topology topology = switched(3, "\"a\\");
  topology.nodes[NodeId(0)].id = "\\N\x01";
  const std::string out = to_dot(shaped(Collective::allgather, 3, 1, star), topology);
  EXPECT_THAT(out, ::testing::HasSubstr("  label=\"allgather on \\\"a\\\\, k = "));
  EXPECT_THAT(out, ::testing::HasSubstr("    broadcast_0_0 [label=\"\\\\N?\""));
}

TEST(Dot, DrawsEveryEdgeInTheDirectionOfTheData) {
  const Forest forest = make_forest(3, {path(3, 0), star(3, 1), star(3, 2)}, 3);
  const std::string out =
      to_dot(collective_of(Collective::allreduce, 1, forest, forest), switched(3));
  EXPECT_THAT(out, ::testing::HasSubstr("broadcast_0_1 -> broadcast_0_2 [label=\"sw\"];"));
  EXPECT_THAT(out, ::testing::HasSubstr("reduce_0_2 -> reduce_0_1 [label=\"sw\"];"));
  EXPECT_THAT(out, ::testing::HasSubstr("reduce 0: root gpu0, multiplicity 1, height 2"));
  std::size_t edges = 0;
  for (std::size_t i = out.find(" -> "); i != std::string::npos; i = out.find(" -> ", i + 1)) {
    ++edges;
  }
  EXPECT_EQ(edges, 12u);
}

}  // namespace
}  // namespace forestcoll::testing
