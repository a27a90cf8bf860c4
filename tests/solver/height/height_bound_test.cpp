#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/pack.hpp"
#include "solver/height/bound/bound.hpp"
#include "solver/height/bound/cuts.hpp"
#include "solver/linear/linear_program.hpp"
#include "solver/symmetry/symmetry.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

Scaling optimal_scaling(const Network& network) {
  return scale_to_optimum(network, optimal_rate(network, uniform_weights(network)));
}

std::int32_t bound_at_the_optimum(const Network& network) {
  return height_lower_bound(network, uniform_weights(network), optimal_scaling(network));
}

/// All forests of a small fabric, by definition: every tree is a choice of one route into each
/// rank, every forest a choice of trees.
class AllForests {
 public:
  AllForests(const Network& network, const Scaling& scaling)
      : network_(network), scaling_(scaling), ranks_(network.ranks.size()) {
    routes_.resize(ranks_);
    for (std::size_t r = 0; r < ranks_; ++r) {
      origin_ = r;
      std::vector<ArcId> path;
      walk(network.ranks[r], path);
    }
    trees_.resize(ranks_);
    for (std::size_t root = 0; root < ranks_; ++root) {
      std::vector<std::size_t> choice(ranks_, 0);
      add_trees(root, 0, choice);
    }
  }

  /// Nothing where the search would take too long.
  std::optional<std::int32_t> least_height() {
    for (const auto& trees : trees_) {
      if (trees.size() > 400) return std::nullopt;
    }
    for (std::int32_t height = 1; height < static_cast<std::int32_t>(ranks_); ++height) {
      steps_ = 0;
      std::vector<std::int64_t> left(scaling_.capacity.begin(), scaling_.capacity.end());
      const bool found = choose(height, 0, 0, 0, left);
      if (steps_ > kMaxSteps) return std::nullopt;
      if (found) return height;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::int64_t kMaxSteps = 200'000;

  struct EdgeIn {
    std::size_t from;
    std::vector<ArcId> arcs;
  };
  struct Tree {
    std::int32_t height;
    std::vector<std::int64_t> load;
  };

  void walk(NodeId v, std::vector<ArcId>& path) {
    for (ArcId a = network_.graph.first_out(v); a != network_.graph.last_out(v); ++a.value) {
      const NodeId w = network_.graph.head(a);
      const bool returns = std::any_of(path.begin(), path.end(),
                                       [&](ArcId b) { return network_.graph.tail(b) == w; }) ||
                           w == network_.ranks[origin_];
      if (returns || scaling_.capacity[a] == 0) continue;
      path.push_back(a);
      if (network_.is_compute(w)) {
        routes_[network_.rank_of[w].index()].push_back({origin_, path});
      } else {
        walk(w, path);
      }
      path.pop_back();
    }
  }

  void add_trees(std::size_t root, std::size_t v, std::vector<std::size_t>& choice) {
    if (trees_[root].size() > 400) return;
    if (v == ranks_) {
      add_tree(root, choice);
      return;
    }
    if (v == root) {
      add_trees(root, v + 1, choice);
      return;
    }
    for (std::size_t i = 0; i < routes_[v].size(); ++i) {
      choice[v] = i;
      add_trees(root, v + 1, choice);
    }
  }

  void add_tree(std::size_t root, const std::vector<std::size_t>& choice) {
    Tree tree{0, std::vector<std::int64_t>(network_.graph.arc_count(), 0)};
    for (std::size_t v = 0; v < ranks_; ++v) {
      std::int32_t depth = 0;
      for (std::size_t u = v; u != root; u = routes_[u][choice[u]].from) {
        if (++depth > static_cast<std::int32_t>(ranks_)) return;  // a cycle
      }
      tree.height = std::max(tree.height, depth);
      if (v == root) continue;
      for (const ArcId a : routes_[v][choice[v]].arcs) ++tree.load[a.index()];
    }
    trees_[root].push_back(std::move(tree));
  }

  // The `index`-th tree of `root`; trees of one root in order, as they may stand in any.
  bool choose(std::int32_t height, std::size_t root, std::int64_t index, std::size_t first,
              std::vector<std::int64_t>& left) {
    if (++steps_ > kMaxSteps) return false;
    if (index == scaling_.k) return choose(height, root + 1, 0, 0, left);
    if (root == ranks_) return true;
    for (std::size_t t = first; t < trees_[root].size(); ++t) {
      const Tree& tree = trees_[root][t];
      if (tree.height > height) continue;
      bool fits = true;
      for (std::size_t a = 0; a < left.size(); ++a) {
        left[a] -= tree.load[a];
        fits &= left[a] >= 0;
      }
      const bool found = fits && choose(height, root, index + 1, t, left);
      for (std::size_t a = 0; a < left.size(); ++a) left[a] += tree.load[a];
      if (found) return true;
    }
    return false;
  }

  const Network& network_;
  const Scaling& scaling_;
  std::size_t ranks_;
  std::size_t origin_ = 0;
  std::vector<std::vector<EdgeIn>> routes_;  ///< into each rank
  std::vector<std::vector<Tree>> trees_;     ///< of each root
  std::int64_t steps_ = 0;
};

TEST(HeightLowerBound, IsTheDistanceInHops) {
  const auto least = [](const Network& network) {
    return height_lower_bound(network, uniform_weights(network));
  };
  EXPECT_EQ(least(test::dgx_a100(1)), 1);
  // Odd and even NICs are on two switches.
  EXPECT_EQ(least(test::dgx_a100(16)), 2);
  EXPECT_EQ(least(test::fat_tree(8)), 1);
  EXPECT_EQ(least(test::torus({8, 8})), 8);
  EXPECT_EQ(least(test::torus({5, 4, 3})), 5);
  EXPECT_EQ(least(test::hypercube(7)), 7);
  const Network line = [] {
    test::FabricBuilder builder(5);
    for (std::size_t v = 0; v < 4; ++v) builder.link(v, v + 1, 1);
    return builder.build();
  }();
  EXPECT_EQ(least(line), 4);
  EXPECT_EQ(height_lower_bound(line, single_root(line, Rank(2))), 2);
}

TEST(HeightLowerBound, OneRootPerOrbitIsEnough) {
  const Network networks[] = {
      test::torus({8, 4}),
      test::hypercube(6),
      test::dgx_a100(4),
      test::mi250(3),
      test::h100_rails(4, 2),
      test::derated(test::dgx_a100(3), NodeId(std::size_t{0}), NodeId(std::size_t{27}), 0)};
  for (const Network& network : networks) {
    const Weights weights = uniform_weights(network);
    const auto groups = solver::find_symmetries(network, weights);
    EXPECT_FALSE(groups.empty());
    for (const Symmetry& group : groups) {
      EXPECT_EQ(solver::distance_bound(network, weights, group),
                height_lower_bound(network, weights));
    }
  }
}

// A line whose first rank is in the middle; turning its ranks moves no arc onto another.
TEST(HeightLowerBound, BelievesNoFalseSymmetry) {
  test::FabricBuilder builder(5);
  for (const auto& [a, b] : {std::pair(3, 1), std::pair(1, 0), std::pair(0, 2), std::pair(2, 4)}) {
    builder.link(static_cast<std::size_t>(a), static_cast<std::size_t>(b), 1);
  }
  const Network line = builder.build();
  Symmetry::Generator turn{.order = 5, .nodes = {}, .ranks = {}};
  for (std::size_t v = 0; v < 5; ++v) {
    turn.nodes.push_back(NodeId((v + 1) % 5));
    turn.ranks.push_back(Rank((v + 1) % 5));
  }
  EXPECT_EQ(solver::distance_bound(line, uniform_weights(line), Symmetry({turn})), 4);
}

TEST(HeightLowerBound, NoForestIsLower) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Network network = test::random_fabric(seed, {.one_way = seed % 2 == 0});
    const Weights weights = uniform_weights(network);
    const Scaling scaling = optimal_scaling(network);
    const auto packing = pack(network, weights, scaling);
    const std::int32_t bound = height_lower_bound(network, weights, scaling);
    EXPECT_GE(packing->forest.max_height(), bound) << "seed " << seed;
    EXPECT_GE(bound, height_lower_bound(network, weights)) << "seed " << seed;
  }
}

TEST(HeightLowerBound, HoldsForAllForestsOfSmallFabrics) {
  int compared = 0, beyond_distance = 0, exact = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const Network network = test::random_fabric(
        seed, {.max_compute = 4, .max_switches = 2, .max_capacity = 3, .one_way = seed % 3 == 0});
    const Scaling scaling = optimal_scaling(network);
    if (scaling.k > 3) continue;
    const auto least = AllForests(network, scaling).least_height();
    if (!least) continue;
    const Weights weights = uniform_weights(network);
    const std::int32_t bound = height_lower_bound(network, weights, scaling);
    ASSERT_LE(bound, *least) << "seed " << seed;
    ++compared;
    beyond_distance += bound > height_lower_bound(network, weights);
    exact += bound == *least;
  }
  EXPECT_GT(compared, 300);
  EXPECT_GT(beyond_distance, 20);
  EXPECT_GT(exact, compared * 8 / 10);
}

TEST(HeightLowerBound, CountsOneEntryPerBox) {
  // All boxes are one hop apart, but trees enter each of them once and go on inside.
  EXPECT_EQ(bound_at_the_optimum(test::h100_rails(4, 1)), 2);
  EXPECT_EQ(bound_at_the_optimum(test::h100_rails(16, 2)), 2);
  // In a box of unlike links they go on for several hops.
  const Network boxes = test::direct_boxes(2, 16);
  EXPECT_EQ(height_lower_bound(boxes, uniform_weights(boxes)), 1);
  EXPECT_EQ(bound_at_the_optimum(boxes), 3);
}

TEST(HeightLowerBound, CountsEdgesThroughSwitches) {
  // Two chains of five ranks on one slow switch: few trees can enter a chain twice.
  test::FabricBuilder builder(10);
  const std::size_t hub = builder.add_switch();
  for (std::size_t chain = 0; chain < 10; chain += 5) {
    for (std::size_t i = 0; i < 4; ++i) builder.link(chain + i, chain + i + 1, 100);
  }
  for (std::size_t v = 0; v < 10; ++v) builder.link(v, hub, 1);
  const Network network = builder.build();
  const Weights weights = uniform_weights(network);
  EXPECT_EQ(height_lower_bound(network, weights), 1);
  EXPECT_GE(solver::height_forced_by_switches(network, weights, optimal_scaling(network)), 3);
}

/// How many times over all roots can send stars at once, parts of stars allowed: by definition, a
/// flow from each root to all ranks that passes through switches alone.
double room_for_stars(const Network& network, const Weights& weights, const Scaling& scaling) {
  const std::size_t arcs = network.graph.arc_count(), ranks = network.ranks.size();
  const auto flow = [&](std::size_t root, ArcId a) { return root * arcs + a.index(); };
  const std::size_t times = ranks * arcs;
  solver::LinearProgram program(times + 1);
  program.maximise(std::vector<solver::Term>{{times, 1}});
  for (std::size_t a = 0; a < arcs; ++a) {
    std::vector<solver::Term> load;
    for (std::size_t root = 0; root < ranks; ++root) load.push_back({flow(root, ArcId(a)), 1});
    program.add_at_most(load, static_cast<double>(scaling.capacity[ArcId(a)]));
  }
  for (std::size_t root = 0; root < ranks; ++root) {
    const std::int64_t trees = weights[Rank(root)] * scaling.k;
    for (std::size_t i = 0; i < network.graph.node_count(); ++i) {
      const NodeId v(i);
      if (v == network.ranks[root]) continue;
      std::vector<solver::Term> balance;
      for (const ArcId in : network.graph.in(v)) balance.push_back({flow(root, in), 1});
      for (ArcId out = network.graph.first_out(v); out != network.graph.last_out(v); ++out.value) {
        if (network.is_compute(v)) {
          program.add_at_most(std::vector<solver::Term>{{flow(root, out), 1}}, 0);
        } else {
          balance.push_back({flow(root, out), -1});
        }
      }
      if (network.is_compute(v)) balance.push_back({times, -trees});
      program.add_equal(balance, 0);
    }
  }
  EXPECT_TRUE(program.solve());
  return program.value(times);
}

TEST(HeightLowerBound, RefutesNoStarsThatFit) {
  int refuted = 0, too_few = 0, fit = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Network network = test::random_fabric(
        seed, {.max_compute = 7, .max_switches = 4, .max_capacity = 4, .one_way = seed % 3 == 0});
    Weights weights = uniform_weights(network);
    if (seed % 4 == 0) weights[Rank(0)] = 3;
    const Scaling scaling = scale_to_optimum(network, optimal_rate(network, weights));
    const double room = room_for_stars(network, weights, scaling);
    const bool impossible = solver::stars_are_impossible(network, weights, scaling);
    if (room > 1 - 1e-7) {
      EXPECT_FALSE(impossible) << "seed " << seed << ": there is room for " << room;
      ++fit;
    } else {
      ++too_few;
      refuted += impossible;
    }
  }
  EXPECT_GT(fit, 40);
  EXPECT_GT(refuted, 100);
  EXPECT_GT(refuted, too_few / 2);
}

TEST(HeightLowerBound, RefutesStars) {
  const auto impossible = [](const Network& network) {
    return solver::stars_are_impossible(network, uniform_weights(network),
                                        optimal_scaling(network));
  };
  EXPECT_TRUE(impossible(test::jellyfish(16, 4, 5, 1)));
  EXPECT_FALSE(impossible(test::fat_tree(4)));
  EXPECT_FALSE(impossible(test::dragonfly(4, 2, 2)));
  // A switch of four GPUs that has lost one of its four uplinks: 4·124 trees go over three of 127.
  const Network tree = test::fat_tree(8);
  const NodeId edge(std::size_t{128 + 16});
  const auto uplink =
      std::find_if(tree.graph.arcs().begin(), tree.graph.arcs().end(),
                   [&](Arc arc) { return arc.tail == edge && !tree.is_compute(arc.head); });
  EXPECT_FALSE(impossible(tree));
  EXPECT_TRUE(impossible(test::derated(tree, edge, uplink->head, 0)));
  // A pod of four GPUs that has lost one of its four uplinks: 4·12 trees go over three of 15.
  const Network small = test::fat_tree(4);
  const auto is_next_to_a_rank = [&](NodeId v) {
    return std::any_of(small.ranks.begin(), small.ranks.end(),
                       [&](NodeId rank) { return small.graph.find(rank, v).valid(); });
  };
  const auto core_link =
      std::find_if(small.graph.arcs().begin(), small.graph.arcs().end(), [&](Arc arc) {
        return !small.is_compute(arc.tail) && !small.is_compute(arc.head) &&
               !is_next_to_a_rank(arc.tail) && !is_next_to_a_rank(arc.head);
      });
  ASSERT_NE(core_link, small.graph.arcs().end());
  EXPECT_TRUE(impossible(test::derated(small, core_link->tail, core_link->head, 0)));
  // One switch, where stars take all that there is.
  test::FabricBuilder star(5);
  const std::size_t hub = star.add_switch();
  for (std::size_t v = 0; v < 5; ++v) star.link(v, hub, 3);
  EXPECT_FALSE(impossible(star.build()));
}

}  // namespace
}  // namespace forestcoll
