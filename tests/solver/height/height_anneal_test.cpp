#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stop_token>
#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "forest/symmetry.hpp"
#include "solver/height/edges/anneal.hpp"
#include "solver/height/height_testing.hpp"
#include "solver/symmetry/orbits.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

using test::complete_fabric;
using test::random_rows;
using test::Rows;

constexpr std::int64_t kAll = std::int64_t{1} << 40;  ///< a piece larger than any tree
constexpr std::size_t kMany = 1000;                   ///< trees

void anneal(Rows& rows, std::int32_t bound, std::int64_t piece, std::int64_t proposals) {
  anneal_heights(rows.view(), solver::trivial_orbits(rows.core), bound, kMany, piece, proposals,
                 {});
}

TEST(AnnealHeights, ExchangesTheEdgesIntoANode) {
  Rows rows(complete_fabric(4));
  rows.add(1, {0, 0, 1, 2});  // 0 → 1 → 2 → 3
  rows.add(1, {1, 1, 1, 0});  // 1 → 0 → 3, 1 → 2: node 3 changes places
  rows.fit_capacities(0);
  anneal(rows, 2, kAll, 20'000);
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.max_height(), 2);
}

TEST(AnnealHeights, OnlyEqualMultiplicitiesExchange) {
  for (const std::int64_t piece : {std::int64_t{1}, kAll}) {
    Rows rows(complete_fabric(4));
    rows.add(1, {0, 0, 1, 2});
    rows.add(2, {1, 1, 1, 0});
    rows.fit_capacities(0);
    anneal(rows, 2, piece, 20'000);
    EXPECT_EQ(rows.flaw(), "");
    EXPECT_EQ(rows.max_height(), piece == 1 ? 2 : 3);
    EXPECT_EQ(rows.trees.size(), piece == 1 ? 3U : 2U);
  }
}

TEST(AnnealHeights, SplitsIntoPowersOfTwo) {
  Rows rows(complete_fabric(3));
  rows.add(45, {0, 0, 1});
  rows.fit_capacities(0);
  anneal(rows, 1, 8, 400);
  std::map<std::int64_t, int> pieces;
  for (const auto& tree : rows.trees) ++pieces[tree.multiplicity];
  EXPECT_EQ(pieces, (std::map<std::int64_t, int>{{8, 5}, {4, 1}, {1, 1}}));
  EXPECT_EQ(rows.flaw(), "");
}

TEST(AnnealHeights, SplitsIntoNoMoreThanAllowed) {
  // 45 = 5 · 8 + 4 + 1 = 2 · 16 + 8 + 4 + 1 = 32 + 8 + 4 + 1.
  for (const auto& [most, trees] :
       {std::pair(7, 7U), std::pair(6, 5U), std::pair(4, 4U), std::pair(3, 1U)}) {
    Rows rows(complete_fabric(3));
    rows.add(45, {0, 0, 1});
    rows.fit_capacities(0);
    anneal_heights(rows.view(), solver::trivial_orbits(rows.core), 1,
                   static_cast<std::size_t>(most), 8, 400, {});
    EXPECT_EQ(rows.trees.size(), trees);
    EXPECT_EQ(rows.flaw(), "");
  }
}

// What every arc carries stays as it is, whether trees get lower or not.
TEST(AnnealHeights, KeepsEveryLoadOnRandomFabrics) {
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Rows rows = random_rows(seed, seed % 4 > 1);
    const auto rooted = rows.rooted();
    const auto loads = rows.loads();
    const auto routes = rows.routes;
    anneal(rows, 1, 1, 4000);
    ASSERT_EQ(rows.flaw(), "") << "seed " << seed;
    ASSERT_EQ(rows.rooted(), rooted) << "seed " << seed;
    ASSERT_EQ(rows.loads(), loads) << "seed " << seed;
    changed += rows.routes != routes;
  }
  EXPECT_GT(changed, 300);
}

// Two switches side by side, passed in either order: where one way goes on as another one did, it
// could come back to a switch.
TEST(AnnealHeights, RoutesPassASwitchOnce) {
  test::FabricBuilder builder(4, 2);
  for (std::size_t v = 0; v < 4; ++v) {
    builder.link(v, 4, 1);
    builder.link(v, 5, 1);
  }
  builder.link(4, 5, 1);
  Rows rows(builder.build());
  const auto arc = [&](std::size_t from, std::size_t to) {
    return rows.core.graph.find(NodeId(from), NodeId(to));
  };
  for (const std::size_t first : {4U, 5U}) {
    const std::size_t second = 9 - first;
    const PrefixId one = rows.table.extend(PrefixId(0), SegmentId(arc(0, first).index()));
    const PrefixId two = rows.table.extend(one, SegmentId(arc(first, second).index()));
    for (std::size_t v = 0; v < 4; ++v) {
      rows.routes.push_back(v == 0 ? Route{} : Route{two, SegmentId(arc(second, v).index())});
    }
    rows.trees.push_back({Rank(0), 1, 1});
  }
  rows.fit_capacities(0);
  anneal(rows, 0, 1, 20'000);
  EXPECT_EQ(rows.flaw(), "");
}

// Links between any two of twelve ranks, turned by two. One base tree is a path from rank 0, the
// other one a star from rank 1; images stand for the other roots. What all images carry must stay,
// and be carried by trees.
TEST(AnnealHeights, ImagesOfOthersExchangeToo) {
  constexpr std::size_t kN = 12;
  Rows rows(complete_fabric(kN));
  Symmetry::Generator turn{static_cast<std::int32_t>(kN / 2), {}, {}};
  for (std::size_t v = 0; v < kN; ++v) {
    turn.nodes.push_back(NodeId((v + 2) % kN));
    turn.ranks.push_back(Rank((v + 2) % kN));
  }
  const Symmetry group({turn});
  const auto orbits = solver::make_orbits(rows.core, group);
  ASSERT_TRUE(orbits);
  std::vector<std::size_t> there(kN), other(kN);
  for (std::size_t v = 0; v < kN; ++v) {
    there[v] = v == 0 ? 0 : v - 1;
    other[v] = 1;
  }
  rows.add(3, there);
  rows.add(3, other);
  const auto images_of = [&] {
    std::map<ArcId, std::int64_t> loads;
    for (std::size_t t = 0; t < rows.trees.size(); ++t) {
      for (std::size_t v = 0; v < kN; ++v) {
        const Route route = rows.routes[t * kN + v];
        if (!route.valid()) continue;
        for (std::size_t i = 0; i < group.size(); ++i) {
          loads[orbits->arcs.apply(group.element(i), ArcId(route.last.value))] +=
              rows.trees[t].multiplicity;
        }
      }
    }
    return loads;
  };
  const auto loads = images_of();
  const std::int32_t before = rows.max_height();
  ASSERT_EQ(before, static_cast<std::int32_t>(kN) - 1);
  anneal_heights(rows.view(), *orbits, 1, kMany, 1, 100'000, {});
  EXPECT_EQ(images_of(), loads);
  EXPECT_LT(rows.max_height(), before);
  for (std::size_t t = 0; t < rows.trees.size(); ++t) {
    EXPECT_EQ(rows.height_of(t, rows.trees[t].root.index()), rows.trees[t].height);
  }
}

TEST(AnnealHeights, LeavesTreesAloneThatAreTooHighForPotentials) {
  constexpr std::size_t kN = 80;
  Rows rows(complete_fabric(kN));
  std::vector<std::size_t> path(kN, 0);
  for (std::size_t v = 1; v < kN; ++v) path[v] = v - 1;
  rows.add(3, path);
  rows.fit_capacities(0);
  const auto routes = rows.routes;
  anneal(rows, 1, 1, 1000);
  EXPECT_EQ(rows.routes, routes);
}

TEST(AnnealHeights, IsTheSameEachTime) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rows first = random_rows(seed, false), second = random_rows(seed, false);
    anneal(first, 1, 1, 4000);
    anneal(second, 1, 1, 4000);
    EXPECT_EQ(first.routes, second.routes);
  }
}

TEST(AnnealHeights, StopsWhereItIsAskedTo) {
  Rows rows = random_rows(3, false);
  const auto loads = rows.loads();
  std::stop_source source;
  source.request_stop();
  anneal_heights(rows.view(), solver::trivial_orbits(rows.core), 1, kMany, 1, kAll,
                 source.get_token());
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.loads(), loads);
}

}  // namespace
}  // namespace forestcoll
