// Every bundled topology, from its file to its forests: the achieved rate is the bound, for every
// collective, and the bound is the one that topologies/README.md names.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"
#include "support/files.hpp"
#include "support/oracles.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

class Bundled : public testing::TestWithParam<std::string> {};

TEST_P(Bundled, EveryCollectiveReachesItsBound) {
  const Network network = test::bundled_network(GetParam());
  for (const auto collective : {Collective::allgather, Collective::reduce_scatter,
                                Collective::allreduce, Collective::broadcast, Collective::reduce}) {
    SynthesizeOptions options;
    options.collective = collective;
    options.at_once = false;  // what `bound` is of: one phase after the other
    if (is_rooted(collective)) options.root = Rank(network.ranks.size() / 2);
    const auto synthesis = synthesize(network, options);
    const auto best = bound(network, collective, options.root);
    ASSERT_TRUE(synthesis && best);
    EXPECT_EQ(synthesis->forest.algbw, best->algbw) << to_string(collective);
    const Weights weights =
        options.root ? single_root(network, *options.root) : uniform_weights(network);
    if (const auto& forest = synthesis->forest.broadcast) {
      const Ratio scale = synthesis->broadcast_rate->inverse * Ratio(synthesis->forest.k);
      EXPECT_EQ(test::find_forest_flaw(network, weights, {synthesis->forest.k, scale, {}}, *forest),
                "")
          << to_string(collective);
    }
    if (const auto& forest = synthesis->forest.reduce) {
      const Ratio scale = synthesis->reduce_rate->inverse * Ratio(synthesis->forest.k);
      EXPECT_EQ(test::find_forest_flaw(reversed(network), weights, {synthesis->forest.k, scale, {}},
                                       forest->reversed()),
                "")
          << to_string(collective);
    }
  }
}

TEST_P(Bundled, TheReadmeNamesTheOptimum) {
  const auto best = bound(test::bundled_network(GetParam()), Collective::allgather, std::nullopt);
  ASSERT_TRUE(best);
  std::istringstream readme(test::read_file(test::source_path("topologies/README.md")));
  std::string line;
  while (std::getline(readme, line)) {
    if (line.find(GetParam() + ".json") == std::string::npos || line.front() != '|') continue;
    EXPECT_NE(line.find(best->algbw.to_string()), std::string::npos) << line;
    EXPECT_NE(line.find(" " + std::to_string(best->k) + " "), std::string::npos) << line;
    return;
  }
  FAIL() << "no row for " << GetParam();
}

std::string name_of(const testing::TestParamInfo<std::string>& each) {
  std::string name = each.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Topologies, Bundled, testing::ValuesIn(test::small_bundled_names()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(TopologiesLong, Bundled, testing::ValuesIn(test::large_bundled_names()),
                         name_of);

}  // namespace
}  // namespace forestcoll
