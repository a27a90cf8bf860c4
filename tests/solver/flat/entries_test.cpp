// Where trees enter boxes, and how low that lets them be inside.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/common/box_network.hpp"
#include "solver/common/boxes.hpp"
#include "solver/flat/cluster.hpp"
#include "solver/flat/inside_trees.hpp"
#include "solver/flat/lane_parts.hpp"
#include "solver/flat/lanes.hpp"
#include "solver/low/low_program.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

TEST(FlatEntries, PortionsFollowTheirKeys) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::int64_t> parts, keys;
    for (std::size_t i = 0; i < 1 + random() % 6; ++i) {
      parts.push_back(static_cast<std::int64_t>(random() % 50));
      keys.push_back(1 + static_cast<std::int64_t>(random() % 9));
    }
    const std::int64_t sum = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    const std::int64_t total = static_cast<std::int64_t>(random()) & 127;
    const auto found = solver::weighted_portions(parts, keys, total);
    ASSERT_EQ(found.has_value(), total <= sum);
    if (!found) continue;
    EXPECT_EQ(std::accumulate(found->begin(), found->end(), std::int64_t{0}), total);
    // No part is full where another one has less than its proportion, but for whole numbers.
    for (std::size_t i = 0; i < parts.size(); ++i) {
      EXPECT_GE((*found)[i], 0);
      EXPECT_LE((*found)[i], parts[i]);
      for (std::size_t j = 0; j < parts.size(); ++j) {
        if ((*found)[i] == parts[i] || parts[i] == 0 || parts[j] == 0) continue;
        const auto rank = [&](std::size_t at, std::int64_t more) {
          return static_cast<double>((*found)[at] + more) /
                 static_cast<double>(parts[at] * keys[at]);
        };
        EXPECT_LE(rank(j, -2), rank(i, 2)) << trial;
      }
    }
  }
}

// What a pair of boxes owes to each phase stays; entries are as wanted where lanes can be so.
TEST(FlatEntries, LanesAreDividedAsIsWanted) {
  std::mt19937_64 random(2);
  int divided = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const test::Cluster cluster{5, 4, 4, std::vector<Capacity>(20, 10),
                                std::vector<Capacity>(20, 10)};
    const Network network = cluster.build();
    const Ratio most = allreduce_optimum(network, {}, {})->upper;
    const solver::Core core = solver::make_core(network, network.capacity);
    const solver::Boxes boxes = solver::divisions_into_boxes(core).front();
    auto lanes = solver::find_lanes(boxes, most);
    ASSERT_TRUE(lanes);
    for (auto& trees : lanes->shares.trees) trees *= 1'000;
    for (auto& row : lanes->lanes) {
      for (auto& pair : row) {
        for (solver::Lane& lane : pair) lane.trees *= 1'000;
      }
    }
    // One box wants more at some ranks, and less at others.
    const std::size_t box = random() % 5;
    const std::int64_t all =
        std::accumulate(lanes->shares.trees.begin(), lanes->shares.trees.end(), std::int64_t{0});
    const std::int64_t each = (all - lanes->shares.trees[box]) / 4;
    const auto shift = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(each / 2));
    solver::WantedEntries wanted(20, -1);
    for (std::size_t i = 0; i < 4; ++i) {
      wanted[box * 4 + i] = each + (i % 2 == 0 ? shift : -shift);
    }
    solver::LaneParts parts(boxes, *lanes, wanted);
    ASSERT_TRUE(parts.divide());
    std::vector<std::int64_t> entering(20, 0), leaving(20, 0);
    for (std::size_t g = 0; g < 5; ++g) {
      for (std::size_t h = 0; h < 5; ++h) {
        if (g == h) continue;
        std::int64_t of_broadcast = 0;
        for (std::size_t i = 0; i < lanes->lanes[g][h].size(); ++i) {
          const solver::Lane& lane = lanes->lanes[g][h][i];
          const std::int64_t out = parts.straight(false, g, h)[i];
          const std::int64_t in = parts.straight(true, g, h)[i];
          EXPECT_GE(out, 0);
          EXPECT_GE(in, 0);
          EXPECT_EQ(out + in, lane.trees);
          of_broadcast += out;
          entering[boxes.in[h][lane.in].rank.index()] += out;
          leaving[boxes.out[g][lane.out].rank.index()] += in;
        }
        EXPECT_EQ(of_broadcast, lanes->shares.trees[g]);
      }
    }
    for (std::size_t r = box * 4; r < box * 4 + 4; ++r) {
      EXPECT_NEAR(static_cast<double>(entering[r]), static_cast<double>(wanted[r]), 10) << trial;
      EXPECT_NEAR(static_cast<double>(leaving[r]), static_cast<double>(wanted[r]), 10) << trial;
    }
    ++divided;
  }
  EXPECT_EQ(divided, 20);
}

// Without one of its ranks.
Network without(const Network& network, NodeId dead) {
  const auto number = [&](NodeId v) { return NodeId(v.index() - (v > dead ? 1 : 0)); };
  Network less;
  less.unit = network.unit;
  std::vector<Arc> arcs;
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    if (arc.tail == dead || arc.head == dead) continue;
    arcs.push_back({number(arc.tail), number(arc.head)});
    less.capacity.push_back(network.capacity[ArcId(a)]);
  }
  less.graph = Digraph(network.graph.node_count() - 1, arcs);
  for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
    if (NodeId(v) == dead) continue;
    const bool is_rank = network.rank_of[NodeId(v)].valid();
    less.rank_of.push_back(is_rank ? Rank(less.ranks.size()) : Rank());
    if (is_rank) less.ranks.push_back(number(NodeId(v)));
  }
  return less;
}

// Hops of the highest tree of a box.
std::int32_t height_inside(const std::vector<Rank>& members, const solver::InsideTrees& trees) {
  std::int32_t height = 0;
  for (const Rank root : members) {
    for (const solver::InsideTree& tree : trees[root.index()]) {
      for (std::size_t i = 0; i < members.size(); ++i) {
        std::int32_t depth = 0;
        for (Rank at = members[i]; at != root; ++depth) {
          at = tree.parent[static_cast<std::size_t>(std::ranges::find(members, at) -
                                                    members.begin())];
        }
        height = std::max(height, depth);
      }
    }
  }
  return height;
}

// By definition: at the least height at which the program has room for trees of all roots, however
// near to the farthest these are; and where trees may enter at any rank, no higher than that.
TEST(FlatEntriesLong, TreesInsideOfDamagedBoxesAreAsLowAsTheirLinksAllow) {
  bool is_lower_anywhere = false;
  for (const std::size_t dead : {2, 8, 10, 11, 15}) {
    const Network network = without(test::mi250(3), NodeId(dead));
    const solver::Core core = solver::make_core(network, network.capacity);
    const solver::Boxes boxes = solver::divisions_into_boxes(core).front();
    ASSERT_EQ(boxes.members.front().size(), 15U);
    // 142 GB/s of both phases, as eight boxes have.
    const std::vector<std::int64_t> each(47, 1'000), none(47, 0), room(47, 1'400);
    const Ratio per_capacity = Ratio(16'000, 142) * network.unit;
    const solver::InsideNeeds needs{each, each, per_capacity};
    solver::InsideKnown known;
    const auto found = solver::inside_trees(core, boxes, needs, known, {});
    ASSERT_TRUE(found);
    const std::int32_t height = height_inside(boxes.members.front(), *found);

    const solver::BoxNetwork box(core, boxes, 0, false);
    const Weights one(15, 1);
    for (std::int32_t h = height_lower_bound(box.network(), one); h < height; ++h) {
      solver::LowProblem low = solver::low_problem(box.network(), one, h);
      auto& phase = low.phases.front();
      for (std::size_t a = 0; a < box.network().graph.arc_count(); ++a) {
        const Arc& arc = box.network().graph.arcs()[a];
        phase.link[ArcId(a)] = std::min(a, box.network().graph.find(arc.head, arc.tail).index());
      }
      low.most_congestion = per_capacity.to_double() / 1'000;
      EXPECT_FALSE(solver::solve_low(low, {})) << dead << ' ' << h;
    }

    const auto entries = solver::lower_entries(core, boxes, needs, none, room, 15'000, known, {});
    if (entries.front() < 0) continue;
    is_lower_anywhere = true;
    solver::InsideNeeds elsewhere = needs;
    std::int64_t all = 0;
    for (std::size_t r = 0; r < 15; ++r) {
      EXPECT_LE(entries[r], 1'401);
      all += elsewhere.entering[r] = elsewhere.of_either[r] = entries[r];
    }
    EXPECT_EQ(all, 15'000);
    const auto lower = solver::inside_trees(core, boxes, elsewhere, known, {});
    ASSERT_TRUE(lower);
    EXPECT_LE(height_inside(boxes.members.front(), *lower), height);
  }
  EXPECT_TRUE(is_lower_anywhere);
}

}  // namespace
}  // namespace forestcoll
