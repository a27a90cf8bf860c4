// The fabrics that come with the project: they parse without a word, and their README knows them.

#include "forestcoll/network.hpp"
#include "support/oracles.hpp"
#include "topology_testing.hpp"

namespace forestcoll {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

ParsedTopology parse_bundled(const std::filesystem::path& path) {
  TopologyOptions options;
  options.strict = true;
  auto parsed = parse_topology(test::read_file(path), path.filename().string(), options);
  EXPECT_TRUE(parsed) << path;
  return parsed ? *std::move(parsed) : ParsedTopology{};
}

TEST(Bundled, FilesParseWithoutWarnings) {
  for (const auto& path : test::json_files("topologies")) {
    const ParsedTopology parsed = parse_bundled(path);
    EXPECT_FALSE(parsed.topology.name.empty()) << path;
    EXPECT_FALSE(parsed.topology.description.empty()) << path;
    EXPECT_TRUE(to_digraph(parsed.topology)) << path;
    EXPECT_THAT(testing::codes_of(parsed.warnings), IsEmpty()) << path;
  }
}

TEST(Bundled, TheReadmeListsEachWithItsSize) {
  const std::string readme = test::read_file(test::source_path("topologies/README.md"));
  for (const auto& path : test::json_files("topologies")) {
    const std::string name = path.filename().string();
    const std::size_t gpus = parse_bundled(path).topology.ranks.size();
    EXPECT_THAT(readme, HasSubstr("| `" + name + "` | " + std::to_string(gpus) + " |"));
  }
}

// Links, seen from each compute node.
TEST(Bundled, EveryGpuHasItsLinks) {
  const auto check = [](const std::string& name, const Ratio& expected) {
    const Topology topology = parse_bundled(test::source_path("topologies/" + name)).topology;
    const auto network = to_digraph(topology);
    ASSERT_TRUE(network) << name;
    for (const NodeId rank : network->ranks) {
      Capacity in = 0;
      for (const ArcId arc : network->graph.in(rank)) in += network->capacity[arc];
      EXPECT_EQ(network->unit * Ratio(in), expected) << name << " " << topology.nodes[rank].id;
    }
  };
  check("dgx-a100-x1.json", 300);
  check("dgx-a100-x2.json", 325);
  check("dgx-a100-x4.json", 325);
  check("mi250-x1.json", 350);
  check("mi250-x2.json", 366);
  check("dgx-1-v100.json", 150);
  check("dgx-h100-x4-rail.json", 500);
  check("dgx-h100-x4-rail-2to1.json", 500);
  check("torus-4x4.json", 4);
  check("torus-8x8x8.json", 6);
  check("hypercube-16.json", 4);
  check("dragonfly-72.json", 25);
  check("fat-tree-4.json", 25);
}

TEST(Bundled, SmallOnesHaveTheOptimumOfTheReadme) {
  const auto algbw = [](const std::string& name) {
    const auto network =
        to_digraph(parse_bundled(test::source_path("topologies/" + name)).topology);
    EXPECT_TRUE(network) << name;
    if (!network) return Ratio(0);
    return Ratio(static_cast<std::int64_t>(network->ranks.size())) /
           test::brute_force_inverse_rate(*network, uniform_weights(*network)) * network->unit;
  };
  EXPECT_EQ(algbw("dgx-a100-x1.json"), Ratio(2400, 7));
  EXPECT_EQ(algbw("dgx-1-v100.json"), Ratio(1200, 7));
  EXPECT_EQ(algbw("mi250-x1.json"), Ratio(2400, 7));
  EXPECT_EQ(algbw("torus-4x4.json"), Ratio(64, 15));
  EXPECT_EQ(algbw("hypercube-16.json"), Ratio(64, 15));
}

}  // namespace
}  // namespace forestcoll
