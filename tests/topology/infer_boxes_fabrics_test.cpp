// Boxes of whole fabrics: what they declare is kept, and found again where it is taken away.
#include <chrono>
#include <string>

#include "forestcoll/convert.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/boxes_testing.hpp"
#include "topology/check/infer_boxes.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(InferBoxesOfFabrics, BundledAndGeneratedFabricsKeepWhatTheyDeclare) {
  const auto expect_none = [](const std::string& text, const std::string& name) {
    const auto parsed = parse_topology(text, name, {});
    ASSERT_TRUE(parsed) << name;
    EXPECT_THAT(parsed->notes, IsEmpty()) << name;
  };
  for (const auto& path : json_files("topologies")) expect_none(read_file(path), path);
  for (const Generator& generator : generators()) {
    const auto document = generate(generator.name, {});
    ASSERT_TRUE(document) << generator.name;
    expect_none(to_topology_json(*document), generator.name);
  }
}

// Templates taken away, the boxes are found again, with the same names and nodes.
TEST(InferBoxesOfFabrics, ClustersWithoutTheirTemplates) {
  for (const std::string name : {"dgx-1v", "dgx-2", "dgx-a100", "dgx-h100", "mi250", "mi300x"}) {
    for (const std::string fabric : {"single", "odd-even", "rail", "rail-spine", "fat-tree"}) {
      const auto document = generate(name, {{"boxes", "3"}, {"fabric", fabric}});
      ASSERT_TRUE(document) << name;
      const Topology whole = parse_valid(to_topology_json(*document));
      TopologyDocument flat = flat_document(whole);
      for (NodeText& node : flat.top.nodes) node.box.clear();
      const auto found = parse_topology(to_topology_json(flat), "test.json", {});
      ASSERT_TRUE(found) << name;
      EXPECT_EQ(boxes_of(found->topology), boxes_of(whole)) << name << fabric;
      EXPECT_THAT(codes_of(found->warnings), IsEmpty()) << name << fabric;
      EXPECT_THAT(found->notes, SizeIs(1)) << name << fabric;
    }
  }
}

TEST(InferBoxesOfFabrics, GraphFormatsGainThemToo) {
  const std::string csv =
      "src,dst,bandwidth\n"
      "h0/gpu0,h0/sw,300\nh0/gpu1,h0/sw,300\nh1/gpu0,h1/sw,300\nh1/gpu1,h1/sw,300\n"
      "h0/gpu0,core,25\nh0/gpu1,core,25\nh1/gpu0,core,25\nh1/gpu1,core,25\n";
  const auto imported = import_topology(Source::csv, csv, "list.csv", {.compute = "*gpu*"});
  ASSERT_TRUE(imported) << to_string(imported.errors().front());
  const Topology fabric = parse_valid(to_topology_json(imported->document));
  EXPECT_THAT(boxes_of(fabric), UnorderedElementsAre(Pair("h0", SizeIs(3)), Pair("h1", SizeIs(3))));
}

// 16,384 GPUs: next to reading the file it costs nothing. The limit is generous, and would be
// missed by far by anything that is quadratic.
TEST(InferBoxesOfFabricsLong, LargeFabricsInNoTime) {
  const auto document = generate("dgx-a100", {{"boxes", "2048"}});
  ASSERT_TRUE(document);
  const Topology declared = parse_valid(to_topology_json(*document));
  Topology topology = declared;
  for (TopologyNode& node : topology.nodes) node.box.clear();
  const auto start = std::chrono::steady_clock::now();
  const topology::InferredBoxes inferred = topology::infer_boxes(topology);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", std::to_string(seconds.count() * 1000));
  EXPECT_THAT(inferred.names, SizeIs(2048));
  EXPECT_EQ(boxes_of(topology), boxes_of(declared));
  EXPECT_LT(seconds.count(), 2);
}

}  // namespace
}  // namespace forestcoll::testing
