// What a search knows changes nothing of what it finds.
#include "solver/pack/known_packings.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/synthesize.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

// All of a forest: roots, multiplicities, and the way to every rank.
auto trees_of(const std::optional<Forest>& forest) {
  std::vector<std::tuple<std::size_t, std::int64_t, std::vector<std::vector<NodeId>>>> trees;
  if (!forest) return trees;
  for (std::size_t t = 0; t < forest->tree_count(); ++t) {
    const Forest::Tree& tree = forest->tree(TreeId(t));
    std::vector<std::vector<NodeId>> ways;
    for (std::size_t v = 0; v < forest->rank_count(); ++v) {
      if (Rank(v) == tree.root) continue;
      const auto way = forest->path(TreeId(t), Rank(v));
      ways.emplace_back(way.begin(), way.end());
    }
    trees.emplace_back(tree.root.index(), tree.multiplicity, std::move(ways));
  }
  return trees;
}

std::vector<SynthesizeOptions> all_kinds() {
  std::vector<SynthesizeOptions> all;
  for (const Collective collective :
       {Collective::allreduce, Collective::allgather, Collective::reduce_scatter}) {
    for (const std::int64_t k : {4, 2, 1}) {
      for (const Effort effort : {Effort::fast, Effort::normal}) {
        SynthesizeOptions options;
        options.collective = collective;
        options.trees_per_root = {TreesPerRoot::Mode::fixed, k};
        options.packing.effort = effort;
        all.push_back(options);
      }
    }
    SynthesizeOptions options;
    options.collective = collective;
    options.trees_per_root = {TreesPerRoot::Mode::power_of_two, 8};
    all.push_back(options);
    options.packing.symmetry = false;
    all.push_back(options);
    options.trees_per_root = {};
    options.packing.enough_height = 3;
    all.push_back(options);
  }
  return all;
}

// Fabrics of the same shape with other capacities and weights, too, ask one and the same.
TEST(KnownPackings, GiveTheForestsOfASearchThatKnowsNothing) {
  const auto known = std::make_shared<KnownPackings>();
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Network network = test::random_fabric(
        seed / 3, {.max_compute = 5, .max_switches = 2, .max_capacity = seed % 2 == 0 ? 2 : 6});
    if (seed % 3 == 1) network.weight = IdVector<Rank, std::int64_t>(network.ranks.size(), 1);
    if (seed % 3 == 1) network.weight[Rank(0)] = 2;
    if (seed % 3 == 2) network.capacity[ArcId(0)] += 1;
    for (SynthesizeOptions options : all_kinds()) {
      const auto alone = synthesize(network, options);
      options.packing.known = known;
      for (int time = 0; time < 2; ++time) {
        const auto found = synthesize(network, options);
        ASSERT_EQ(found.has_value(), alone.has_value());
        if (!found) continue;
        EXPECT_EQ(found->forest.algbw, alone->forest.algbw);
        EXPECT_EQ(found->forest.k, alone->forest.k);
        EXPECT_EQ(trees_of(found->forest.broadcast), trees_of(alone->forest.broadcast));
        EXPECT_EQ(trees_of(found->forest.reduce), trees_of(alone->forest.reduce));
      }
    }
  }
}

TEST(KnownPackings, KnowsWhatWasAddedAndNoMoreThanItMay) {
  KnownPackings known;
  KnownPackings::Question question;
  EXPECT_FALSE(known.find(question));
  Packing packing;
  packing.statistics.cuts = 7;
  known.add(question, packing);
  ASSERT_TRUE(known.find(question));
  EXPECT_EQ(known.find(question)->statistics.cuts, 7);
  for (std::size_t k = 2; k < KnownPackings::kMostKnown + 2; ++k) {
    question.k = static_cast<std::int64_t>(k);
    EXPECT_FALSE(known.find(question));
    known.add(question, packing);
  }
  EXPECT_FALSE(known.find(question));
}

}  // namespace
}  // namespace forestcoll
