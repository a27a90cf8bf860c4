// Balanced parts: by definition, and as good as a linear program says.
#include "solver/rate/trim.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "forestcoll/pack.hpp"
#include "solver/linear/linear_program.hpp"
#include "solver/rate/balance.hpp"
#include "solver/rate/least_trimming.hpp"
#include "solver/rate/scale.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::testing {
namespace {

using Capacities = IdVector<ArcId, Capacity>;

Network unbalanced_network(std::uint64_t seed) {
  return test::random_fabric(seed, {.one_way = seed % 2 == 0, .unbalanced = true});
}

// The least that a balanced part loses, each arc's loss times its cost.
double least_loss(const Network& network, const std::vector<std::int64_t>& cost) {
  solver::LinearProgram program(network.graph.arc_count());
  std::vector<solver::Term> objective;
  double all = 0;
  for (std::size_t a = 0; a < cost.size(); ++a) {
    objective.push_back({a, cost[a]});
    const auto capacity = static_cast<double>(network.capacity[ArcId(a)]);
    all += static_cast<double>(cost[a]) * capacity;
    program.add_at_most(std::vector<solver::Term>{{a, 1}}, capacity);
  }
  program.maximise(objective);
  for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
    if (network.is_compute(NodeId(v))) continue;
    std::vector<solver::Term> row;
    for (std::size_t a = 0; a < cost.size(); ++a) {
      if (network.graph.head(ArcId(a)) == NodeId(v)) row.push_back({a, 1});
      if (network.graph.tail(ArcId(a)) == NodeId(v)) row.push_back({a, -1});
    }
    if (!row.empty()) program.add_equal(row, 0);
  }
  EXPECT_TRUE(program.solve());
  double left = 0;
  for (std::size_t a = 0; a < cost.size(); ++a) {
    left += static_cast<double>(cost[a]) * program.value(a);
  }
  return all - left;
}

TEST(LeastTrimming, LosesNoMoreThanItMust) {
  int trimmed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = unbalanced_network(seed);
    const std::size_t arcs = network.graph.arc_count();
    IdVector<ArcId, std::int64_t> cost(arcs, 1);
    for (std::size_t a = 0; a < arcs; ++a) {
      cost[ArcId(a)] = 1 + static_cast<std::int64_t>((seed + a) % 4);
    }
    const auto left = solver::least_trimming(network.graph, network.capacity, Capacities(arcs, 0),
                                             network.rank_of, cost);
    ASSERT_TRUE(left);
    EXPECT_TRUE(solver::is_balanced(network.graph, *left, network.rank_of));
    double loss = 0;
    for (std::size_t a = 0; a < arcs; ++a) {
      const Capacity lost = network.capacity[ArcId(a)] - (*left)[ArcId(a)];
      EXPECT_GE(lost, 0);
      EXPECT_GE((*left)[ArcId(a)], 0);
      loss += static_cast<double>(cost[ArcId(a)] * lost);
    }
    EXPECT_NEAR(loss, least_loss(network, {cost.begin(), cost.end()}), 1e-6);
    trimmed += loss > 0;
  }
  EXPECT_GT(trimmed, 100);
}

TEST(LeastTrimming, KeepsWhatItIsTold) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Network network = unbalanced_network(seed);
    const std::size_t arcs = network.graph.arc_count();
    const IdVector<ArcId, std::int64_t> cost(arcs, 1);
    const auto left = solver::least_trimming(network.graph, network.capacity, Capacities(arcs, 0),
                                             network.rank_of, cost);
    ASSERT_TRUE(left);
    EXPECT_EQ(solver::least_trimming(network.graph, network.capacity, *left, network.rank_of, cost),
              left);
    const bool balanced = solver::is_balanced(network.graph, network.capacity, network.rank_of);
    EXPECT_EQ(solver::least_trimming(network.graph, network.capacity, network.capacity,
                                     network.rank_of, cost)
                  .has_value(),
              balanced);
  }
}

TEST(TrimLong, FindsWholePartsThatCarry) {
  int by_program = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = unbalanced_network(seed);
    const Weights weights = uniform_weights(network);
    const Rate rate = tree_rate(network, weights);
    const Scaling scaling = scale_to_optimum(network, rate);
    Weights owed = weights;
    for (std::int64_t& trees : owed) trees *= scaling.k;
    Capacities capacity = network.capacity;
    if (scaling.scale.den() != 1) continue;
    for (Capacity& each : capacity) each *= scaling.scale.num();
    ASSERT_TRUE(solver::carries(network, capacity, owed));
    const auto left = solver::trim_to_balance(network, capacity, owed, {}, {}).capacity;
    ASSERT_TRUE(left);
    EXPECT_TRUE(solver::is_balanced(network.graph, *left, network.rank_of));
    EXPECT_TRUE(solver::carries(network, *left, owed));
    by_program += !solver::trim_where_spare(network, capacity, owed);
    for (std::int64_t& trees : owed) trees *= 2;
    EXPECT_FALSE(solver::carries(network, *left, owed));
    const auto twice = solver::trim_to_balance(network, capacity, owed, {}, {});
    EXPECT_FALSE(twice.capacity);
    EXPECT_TRUE(twice.is_impossible);
  }
  EXPECT_GT(by_program, 0);
}

// Whatever the scale, by definition: between floors and ceilings, and balanced.
TEST(Trim, AUnitMoreOfSomeArcsBalancesFloors) {
  int raised = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Network network =
        test::random_fabric(seed, {.max_switches = 4, .max_capacity = 40, .one_way = true});
    const Ratio scale(static_cast<std::int64_t>(seed % 7 + 3), 11);
    const auto found = solver::balanced_near(network, scale);
    ASSERT_TRUE(found);
    EXPECT_TRUE(solver::is_balanced(network.graph, *found, network.rank_of));
    const auto floors = solver::floor_capacities(network, scale);
    for (std::size_t a = 0; a < found->size(); ++a) {
      EXPECT_GE((*found)[ArcId(a)], floors[ArcId(a)]);
      EXPECT_LT(Ratio((*found)[ArcId(a)]), scale * Ratio(network.capacity[ArcId(a)]) + Ratio(1));
      raised += (*found)[ArcId(a)] > floors[ArcId(a)];
    }
    if (solver::is_balanced(network.graph, floors, network.rank_of)) {
      EXPECT_EQ(*found, floors);
    }
  }
  EXPECT_GT(raised, 100);
}

}  // namespace
}  // namespace forestcoll::testing
