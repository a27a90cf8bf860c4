// Flat trees of one phase, of few trees, and through boxes without stars.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/common/boxes.hpp"
#include "solver/flat/cluster.hpp"
#include "solver/flat/fewer_trees.hpp"
#include "solver/flat/flat_forests.hpp"
#include "solver/flat/inside_trees.hpp"
#include "solver/flat/lanes.hpp"
#include "solver/flat/transport.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

using test::Cluster;
using test::damage;

using Amounts = std::vector<std::vector<std::int64_t>>;

// Calls `visit` with all ways to divide what is offered among what is wanted.
void for_each_division(const solver::Transport& transport, std::size_t place, Amounts& amounts,
                       const std::function<void()>& visit) {
  const std::size_t wanted = transport.wanted.size();
  if (place == transport.offered.size() * wanted) {
    for (std::size_t j = 0; j < wanted; ++j) {
      std::int64_t sum = 0;
      for (const auto& row : amounts) sum += row[j];
      if (sum != transport.wanted[j]) return;
    }
    visit();
    return;
  }
  const std::size_t i = place / wanted, j = place % wanted;
  const std::int64_t used = std::accumulate(amounts[i].begin(), amounts[i].end(), 0LL);
  const std::int64_t left = transport.offered[i] - used;
  for (std::int64_t amount = j + 1 == wanted ? left : 0; amount <= left; ++amount) {
    amounts[i][j] = amount;
    for_each_division(transport, place + 1, amounts, visit);
  }
  amounts[i][j] = 0;
}

std::int32_t greatest_cost(const solver::Transport& transport, const Amounts& amounts) {
  std::int32_t most = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    for (std::size_t j = 0; j < amounts[i].size(); ++j) {
      if (amounts[i][j] > 0) most = std::max(most, transport.cost(i, j));
    }
  }
  return most;
}

TEST(FlatTransport, NoDivisionHasALowerGreatestCost) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t rows = 1 + random() % 3, columns = 1 + random() % 3;
    std::vector<std::int32_t> costs;
    for (std::size_t i = 0; i < rows * columns; ++i) {
      costs.push_back(static_cast<std::int32_t>(random() % 5));
    }
    solver::Transport transport{
        std::vector<std::int64_t>(rows, 0), std::vector<std::int64_t>(columns, 0),
        [&](std::size_t i, std::size_t j) { return costs[i * columns + j]; }};
    for (int unit = 0; unit < 5; ++unit) {
      ++transport.offered[random() % rows];
      ++transport.wanted[random() % columns];
    }
    const auto found = solver::lowest_transport(transport);
    ASSERT_TRUE(found);
    for (std::size_t i = 0; i < rows; ++i) {
      EXPECT_EQ(std::accumulate((*found)[i].begin(), (*found)[i].end(), 0LL), transport.offered[i]);
    }
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    bool is_one_of_them = false;
    Amounts amounts(rows, std::vector<std::int64_t>(columns, 0));
    for_each_division(transport, 0, amounts, [&] {
      least = std::min(least, greatest_cost(transport, amounts));
      is_one_of_them |= amounts == *found;
    });
    EXPECT_TRUE(is_one_of_them) << trial;
    EXPECT_EQ(greatest_cost(transport, *found), least) << trial;
  }
  EXPECT_FALSE(solver::lowest_transport({{1}, {2}, [](std::size_t, std::size_t) { return 0; }}));
}

// The trees span, roots have what they are owed, and links carry them at the rate.
void expect_sound_phase(const Network& network, const Weights& owed, const Forest& trees,
                        const Ratio& rate, const std::string& where) {
  std::int64_t all = 0;
  for (const std::int64_t own : owed) all += own;
  Scaling any{1, Ratio(all), {}};
  for (const Capacity capacity : network.capacity) any.capacity.push_back(capacity * all);
  EXPECT_EQ(test::find_forest_flaw(network, owed, any, trees), "") << where;
  CollectiveForest forest;
  forest.collective = Collective::allgather;
  forest.weight = owed;
  forest.broadcast = trees;
  EXPECT_GE(*congestion_algbw(forest, network), rate) << where;
}

// What an allgather reaches, in units of capacity, by the theorem of Edmonds.
Ratio most_of_allgather(const Network& network, const Weights& weights) {
  std::int64_t all = 0;
  for (const std::int64_t own : weights) all += own;
  const Ratio inverse = tree_rate(network, weights).inverse;
  return Ratio(all) * Ratio(inverse.den(), inverse.num());
}

// Beside the optimum of all trees, whatever directions fail and whatever roots owe.
TEST(FlatForestsLong, OnePhaseReachesTheOptimumOnDamagedRails) {
  std::mt19937_64 random(2);
  int asked = 0, reached = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Cluster cluster{5 + random() % 4, 4, trial % 3 == 0 ? std::size_t{1} : 4, {}, {}};
    cluster.out.assign(cluster.boxes * 4, 10);
    cluster.in = cluster.out;
    damage(cluster, random, trial % 2 == 0);
    const Network network = cluster.build();
    Weights weights = uniform_weights(network);
    if (trial % 5 == 0) weights[Rank(random() % weights.size())] = 2;
    const Ratio most = most_of_allgather(network, weights);
    const std::string where = "trial " + std::to_string(trial);
    EXPECT_FALSE(solver::flat_forests(network, most * Ratio(1001, 1000), {.owed = weights}))
        << where;
    const auto found = solver::flat_forests(network, most, {.owed = weights});
    ++asked;
    if (!found) continue;
    ++reached;
    expect_sound_phase(network, found->trees, found->broadcast, most, where);
    EXPECT_LE(found->broadcast.max_height(), 4) << where;
    for (std::size_t r = 1; r < weights.size(); ++r) {
      EXPECT_EQ(found->trees[Rank(r)] * weights[Rank(0)], found->trees[Rank(0)] * weights[Rank(r)]);
    }
  }
  EXPECT_GE(reached * 10, asked * 8) << reached << " of " << asked;
}

// As many trees as were asked for, which lose little by it.
TEST(FlatForestsLong, FewTreesAreNearTheOptimum) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    Cluster cluster{9, 4, 4, {}, {}};
    cluster.out.assign(cluster.boxes * 4, 10);
    cluster.in = cluster.out;
    damage(cluster, random, trial % 2 == 0);
    const Network network = cluster.build();
    const Ratio most = allreduce_optimum(network, {}, {})->upper;
    const std::string where = "trial " + std::to_string(trial);
    const auto found = solver::flat_forests(network, most, {.numbers = {16}});
    if (!found) continue;
    EXPECT_EQ(std::accumulate(found->trees.begin(), found->trees.end(), 0LL), 36 * 16) << where;
    CollectiveForest forest;
    forest.weight = found->trees;
    forest.broadcast = found->broadcast;
    forest.reduce = found->reduce;
    EXPECT_GE(*congestion_algbw(forest, network), most * Ratio(97, 100)) << where;
    EXPECT_LE(*congestion_algbw(forest, network), most) << where;
  }
}

// By definition: what a pair of boxes owes goes over its lanes, and no gate has more than its part
// of an exact division and what a few lanes are rounded by.
TEST(FlatLanes, FewerTreesLoadGatesAsExactOnesDo) {
  std::mt19937_64 random(4);
  int tried = 0;
  for (int trial = 0; trial < 10; ++trial) {
    Cluster cluster = test::random_cluster(random, 2);
    damage(cluster, random, true);
    const Network network = cluster.build();
    const Ratio most = allreduce_optimum(network, {}, {})->upper;
    const solver::Core core = solver::make_core(network, network.capacity);
    const auto divisions = solver::divisions_into_boxes(core);
    if (divisions.empty()) continue;
    const solver::Boxes& boxes = divisions.front();
    const auto exact = solver::find_lanes(boxes, most);
    if (!exact) continue;
    ++tried;
    const std::vector<std::int64_t> trees(boxes.members.size(), 100);
    const auto few = solver::fewer_trees(boxes, *exact, trees, false);
    ASSERT_TRUE(few);
    double fullest = 0;
    std::vector<std::vector<std::int64_t>> in(trees.size());
    for (std::size_t h = 0; h < trees.size(); ++h) in[h].resize(boxes.in[h].size());
    for (std::size_t g = 0; g < trees.size(); ++g) {
      std::vector<std::int64_t> out(boxes.out[g].size(), 0);
      for (std::size_t h = 0; h < trees.size(); ++h) {
        std::int64_t sum = 0;
        for (const solver::Lane& lane : few->lanes[g][h]) {
          sum += lane.trees;
          out[lane.out] += lane.trees;
          in[h][lane.in] += lane.trees;
        }
        // Nothing goes to a box whose ranks have no trees by the exact division.
        const bool has_lanes = g != h && !exact->lanes[g][h].empty();
        EXPECT_EQ(sum, has_lanes ? 200 : 0);
      }
      for (std::size_t i = 0; i < out.size(); ++i) {
        fullest = std::max(
            fullest, static_cast<double>(out[i]) / static_cast<double>(boxes.out[g][i].capacity));
      }
    }
    for (std::size_t h = 0; h < trees.size(); ++h) {
      for (std::size_t i = 0; i < in[h].size(); ++i) {
        fullest = std::max(
            fullest, static_cast<double>(in[h][i]) / static_cast<double>(boxes.in[h][i].capacity));
      }
    }
    EXPECT_DOUBLE_EQ(solver::fullest_gate(boxes, *few), fullest);
  }
  EXPECT_GT(tried, 5);
}

// Adds up the trees of each root and what its arcs carry. Trees lead to all members, or from them.
void add_inside_trees(const solver::Core& core, const std::vector<Rank>& members, Rank root,
                      const std::vector<solver::InsideTree>& trees, bool is_backward,
                      std::int64_t owed, IdVector<ArcId, std::int64_t>& load) {
  std::int64_t count = 0;
  for (const solver::InsideTree& tree : trees) {
    count += tree.trees;
    for (std::size_t i = 0; i < members.size(); ++i) {
      ASSERT_EQ(tree.parent[i].valid(), members[i] != root);
      NodeId at = core.compute[members[i].index()];
      auto way = tree.ways[i];
      if (!is_backward) std::ranges::reverse(way);
      for (const ArcId a : way) {
        load[a] += tree.trees;
        EXPECT_EQ(is_backward ? core.graph.tail(a) : core.graph.head(a), at);
        at = is_backward ? core.graph.head(a) : core.graph.tail(a);
      }
      // Up to the root in fewer steps than there are members: no tree has a circle.
      Rank up = members[i];
      for (std::size_t hops = 0; up != root; ++hops) {
        ASSERT_LT(hops, members.size());
        const auto place = std::ranges::find(members, up) - members.begin();
        up = tree.parent[static_cast<std::size_t>(place)];
      }
      if (tree.parent[i].valid()) {
        EXPECT_EQ(at, core.compute[tree.parent[i].index()]);
      }
    }
  }
  EXPECT_EQ(count, owed);
}

// Trees of dies that are several hops from one another: as many as enter, within the links.
TEST(InsideTrees, CarryWhatEntersABox) {
  const Network network = test::mi250(3);
  const solver::Core core = solver::make_core(network, network.capacity);
  const solver::Boxes boxes = solver::divisions_into_boxes(core).front();
  std::vector<std::int64_t> entering(48, 100);
  entering[3] = 50;
  // As if all trees together had 264 GB/s, of which links inside of boxes carry a third more.
  const Ratio per_capacity = Ratio(1'600, 264) * network.unit;
  for (const bool is_both : {false, true}) {
    solver::InsideKnown known;
    solver::InsideNeeds needs{entering, {}, per_capacity};
    if (is_both) needs.per_capacity = needs.per_capacity * Ratio(2);
    if (is_both) needs.of_either = entering;
    IdVector<ArcId, std::int64_t> load(core.graph.arc_count(), 0);
    for (const bool is_backward : {false, true}) {
      if (!is_both) load.assign(core.graph.arc_count(), 0);
      needs.is_backward = is_backward;
      const auto found = solver::inside_trees(core, boxes, needs, known, {});
      ASSERT_TRUE(found);
      for (std::size_t r = 0; r < 48; ++r) {
        add_inside_trees(core, boxes.members[r / 16], Rank(r), (*found)[r], is_backward,
                         entering[r], load);
      }
    }
    for (std::size_t a = 0; a < load.size(); ++a) {
      EXPECT_LE(Ratio(load[ArcId(a)]), needs.per_capacity * Ratio(core.capacity[ArcId(a)]));
    }
    needs.per_capacity = Ratio(1, network.capacity[ArcId(0)]);
    EXPECT_FALSE(solver::inside_trees(core, boxes, needs, known, {}));
  }
}

// Data spreads out over links that hardly anything comes back by: half of each for each phase is
// too little, all of both directions for both phases is enough.
TEST(InsideTrees, PhasesShareBothDirectionsOfLinks) {
  test::FabricBuilder builder(9, 1);
  for (std::size_t box = 0; box < 3; ++box) {
    for (std::size_t leaf = 1; leaf < 3; ++leaf) builder.link(3 * box, 3 * box + leaf, 100);
    builder.link(3 * box, 9, 10);
  }
  const Network network = builder.build();
  const solver::Core core = solver::make_core(network, network.capacity);
  const solver::Boxes boxes = solver::divisions_into_boxes(core).front();
  std::vector<std::int64_t> entering(9, 0);
  for (std::size_t box = 0; box < 3; ++box) entering[3 * box] = 10;
  // All of them pass each of the links once, each way.
  solver::InsideNeeds needs{entering, entering, Ratio(1)};
  solver::InsideKnown known;
  EXPECT_TRUE(solver::inside_trees(core, boxes, needs, known, {}));
  needs.of_either = {};
  needs.per_capacity = Ratio(1, 2);
  EXPECT_FALSE(solver::inside_trees(core, boxes, needs, known, {}));
}

// Damaged clusters of boxes whose ranks are up to five hops apart: at the optimum, and lower than
// twice these and the hop between boxes.
TEST(FlatForestsLong, TreesThroughBoxesWithoutStarsAreLow) {
  Network network = test::mi250(5);
  const NodeId slow = network.ranks[3];
  for (ArcId a = network.graph.first_out(slow); a != network.graph.last_out(slow); ++a.value) {
    const NodeId head = network.graph.head(a);
    if (network.is_compute(head)) continue;
    network = test::derated(network, slow, head, Ratio(1, 2));
    break;
  }
  SynthesizeOptions options;
  options.collective = Collective::allgather;
  const auto found = synthesize(network, options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->forest.algbw, found->forest.optimum);
  EXPECT_LE(found->forest.broadcast->max_height(), 9);
}

// Links inside of a box that are slow, whether or not both phases at once are faster by that: trees
// enter the box where those inside of it are low.
TEST(FlatForestsLong, AllreducesThroughBoxesWithSlowLinksAreLow) {
  const Network whole = test::mi250(8);
  for (const auto& [a, b] : std::vector<std::pair<std::size_t, std::size_t>>{{4, 6}, {2, 6}}) {
    const Network network = test::derated(whole, whole.ranks[a], whole.ranks[b], Ratio(1, 2));
    const auto found = synthesize(network, {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->forest.algbw, found->forest.optimum) << a;
    EXPECT_LE(std::max(found->forest.broadcast->max_height(), found->forest.reduce->max_height()),
              found->least_height + 2)
        << a;
  }
}

}  // namespace
}  // namespace forestcoll
