// The proofs of programs of trees, whoever asks for them, and what they are made of.
#include "solver/linear/cut_proof.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/linear/all_cuts.hpp"
#include "solver/linear/linear_program.hpp"
#include "solver/linear/simple_fractions.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::testing {
namespace {

using test::FabricBuilder;

using Cuts = std::vector<std::vector<solver::Term>>;

// All cuts of a small fabric.
Cuts all_cuts(const Network& network, const solver::CutProgram& program) {
  Cuts cuts;
  test::for_each_cut(network, program,
                     [&](std::size_t /*p*/, const auto& row) { cuts.push_back(row); });
  return cuts;
}

std::size_t row_count(const solver::CutProgram& program, const Cuts& cuts) {
  return program.capacity.size() + program.balance.size() + cuts.size();
}

// What the program costs where data is rooted at ranks of these orbits only.
std::vector<double> best_prices(const solver::CutProgram& program, const Cuts& cuts,
                                const std::vector<solver::Term>& roots) {
  solver::LinearProgram solver(program.total(program.commodities.size()));
  solver.maximise(program.objective);
  for (const auto& row : program.capacity) {
    solver.add_at_most(row.terms, static_cast<double>(row.bound));
  }
  for (const auto& row : program.balance) solver.add_equal(row, 0);
  for (const auto& row : cuts) solver.add_at_most(row, 0);
  for (std::size_t p = 0; p < program.commodities.size(); ++p) {
    auto all = solver::owned_terms(program.commodities[p]);
    all.push_back({program.total(p), -1});
    solver.add_equal(all, 0);
  }
  for (const solver::Term& root : program.objective) {
    const std::vector<solver::Term> alone = {root};
    if (std::ranges::find(roots, root) == roots.end()) solver.add_equal(alone, 0);
  }
  EXPECT_TRUE(solver.solve());
  std::vector<double> prices;
  for (std::size_t i = 0; i < row_count(program, cuts); ++i) prices.push_back(solver.price(i));
  return prices;
}

// A proof must not depend on whoever hands in the prices: near the right ones, a bound that does
// not hold would show.
TEST(CutProof, BoundsHoldAtAnyPrices) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> change(-0.02, 0.02);
  int proved = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = 4, .max_switches = 1, .one_way = seed % 2 == 0});
    const Ratio optimum = allreduce_optimum(network)->upper / network.unit;
    const solver::AllreduceFabric fabric(network, {});
    const auto allreduce = solver::AllreduceProgram::relaxed(fabric);
    const solver::CutProgram& program = allreduce.program();
    const Cuts cuts = all_cuts(network, program);
    const auto expect_bound = [&](const std::vector<double>& prices) {
      const auto proof = solver::prove_upper(program, cuts, prices);
      proved += proof.has_value();
      EXPECT_TRUE(!proof || proof->bound >= optimum)
          << "seed " << seed << " " << proof->bound.to_string();
    };
    const auto roots = program.objective;
    std::vector<double> prices = best_prices(program, cuts, roots);
    const auto proof = solver::prove_upper(program, cuts, prices);
    ASSERT_TRUE(proof) << "seed " << seed;
    EXPECT_EQ(proof->bound, optimum) << "seed " << seed;
    for (double& price : prices) price += change(random);
    expect_bound(prices);
    for (const solver::Term& root : roots) expect_bound(best_prices(program, cuts, {root}));
  }
  EXPECT_GT(proved, 100);
}

TEST(CutProof, NothingFollowsFromNoPrices) {
  const Network network = test::torus({4});
  const solver::AllreduceFabric fabric(network, {});
  const auto allreduce = solver::AllreduceProgram::relaxed(fabric);
  const Cuts cuts = all_cuts(network, allreduce.program());
  const std::vector<double> none(row_count(allreduce.program(), cuts), 0);
  EXPECT_FALSE(solver::prove_upper(allreduce.program(), cuts, none));
}

// The solution that roots an equal part of `worth` at every rank and takes half of every arc;
// `widths`: of what there is in the place of capacities.
std::vector<double> half_of(const Network& network, const solver::AllreduceProgram& program,
                            const IdVector<ArcId, double>& widths, const Ratio& worth) {
  std::vector<double> values(program.program().variables);
  for (std::size_t p = 0; p < program.commodities().size(); ++p) {
    const solver::TreeCommodity& commodity = program.program().commodities[p];
    const auto& arcs = program.commodities()[p].twins.arcs;
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      values[commodity.variable[i]] = widths[arcs[i].along] / 2;
    }
    for (const NodeId v : network.ranks) {
      values[commodity.owned[v].variable] =
          worth.to_double() / static_cast<double>(network.ranks.size());
    }
  }
  return values;
}

std::vector<double> half_of_all(const Network& network, const solver::AllreduceProgram& program,
                                const Ratio& worth) {
  IdVector<ArcId, double> widths;
  for (const Capacity capacity : network.capacity) widths.push_back(static_cast<double>(capacity));
  return half_of(network, program, widths, worth);
}

TEST(CutProof, ReachedIsWhatKeepsEveryRow) {
  const Network ring = test::torus({4});
  const solver::AllreduceFabric alike(ring, {});
  const auto program = solver::AllreduceProgram::relaxed(alike);
  const Ratio best(4, 3), more(3, 2);
  EXPECT_TRUE(solver::prove_reached(program.program(), half_of_all(ring, program, best), best));
  // Worth another number than is asked for; cuts too narrow; arcs overfull.
  EXPECT_FALSE(solver::prove_reached(program.program(), half_of_all(ring, program, best), more));
  EXPECT_FALSE(solver::prove_reached(program.program(), half_of_all(ring, program, more), more));
  std::vector<double> overfull = half_of_all(ring, program, more);
  for (double& value : overfull) value *= 2;
  EXPECT_FALSE(solver::prove_reached(program.program(), overfull, Ratio(3)));
}

TEST(CutProof, ReachedNeedsBalancedSwitches) {
  FabricBuilder fabric(2, 1);
  fabric.link(0, 1, 2);
  fabric.arc(0, 2, 2);
  fabric.arc(2, 1, 1);
  const Network network = fabric.build();
  const solver::AllreduceFabric both(network, {});
  const auto program = solver::AllreduceProgram::relaxed(both);
  const std::vector<double> all = half_of_all(network, program, Ratio(2));
  EXPECT_FALSE(solver::prove_reached(program.program(), all, Ratio(2)));
  IdVector<ArcId, double> widths;
  for (const Capacity capacity : network.capacity) widths.push_back(static_cast<double>(capacity));
  widths[network.graph.find(NodeId(0), NodeId(2))] = 1;  // into the switch
  const std::vector<double> balanced = half_of(network, program, widths, Ratio(2));
  EXPECT_TRUE(solver::prove_reached(program.program(), balanced, Ratio(2)));
}

// A variable in two rows, as that of what echoes is: x + y ≤ 3 and 2x ≤ 4 beside a cut x + y ≥ r.
TEST(CutProof, BoundsHoldWhereAVariableIsInSeveralRows) {
  solver::CutProgram program;
  program.variables = 3;
  program.objective = {{2, 1}};
  program.capacity = {{{{0, 1}, {1, 1}}, 3}, {{{0, 2}}, 4}, {{{1, 3}}, 5}};
  const Cuts cuts = {{{0, -2}, {1, -1}, {2, 1}}};
  // Any prices are proofs; 2x + y = (2/3)·3 + … is worth 2·2 + 1.
  const auto exact = solver::prove_upper(program, cuts, std::vector<double>{1, 0.5, 0, 1});
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->bound, Ratio(5));
  for (const auto& guess : std::vector<std::vector<double>>{
           {0, 0, 0, 1}, {2, 0, 0, 1}, {0, 1, 1, 1}, {7, 7, 7, 3}, {0.1, 0.2, 0.3, 1}}) {
    const auto proof = solver::prove_upper(program, cuts, guess);
    ASSERT_TRUE(proof);
    EXPECT_GE(proof->bound, Ratio(5));
    EXPECT_LE(proof->bound, Ratio(7));
  }
}

TEST(LinearProgram, SaysThatThereIsNoOptimum) {
  const std::vector<solver::Term> all = {{0, 1}, {1, 1}};
  solver::LinearProgram unbounded(2);
  unbounded.maximise(all);
  unbounded.add_at_most(std::vector<solver::Term>{{0, 1}, {1, -1}}, 1);
  EXPECT_FALSE(unbounded.solve());
  unbounded.add_at_most(all, 5);
  EXPECT_TRUE(unbounded.solve());
  EXPECT_DOUBLE_EQ(unbounded.value(0) + unbounded.value(1), 5);
  EXPECT_DOUBLE_EQ(unbounded.price(1), 1);
  unbounded.add_at_most(all, -1);
  EXPECT_FALSE(unbounded.solve());
}

// Bounds of variables are no rows of CLP's, and have prices all the same.
TEST(LinearProgram, PricesBoundsAndRowsAlike) {
  using Terms = std::vector<solver::Term>;
  solver::LinearProgram program(2);
  program.maximise(Terms{{0, 1}, {1, 2}});
  program.add_at_most(Terms{{0, 1}}, 3);
  program.add_at_most(Terms{{1, 1}}, 4);
  ASSERT_TRUE(program.solve());
  EXPECT_DOUBLE_EQ(program.value(0), 3);
  EXPECT_DOUBLE_EQ(program.value(1), 4);
  EXPECT_DOUBLE_EQ(program.price(0), 1);
  EXPECT_DOUBLE_EQ(program.price(1), 2);
  program.add_at_most(Terms{{0, 1}, {1, 1}}, 5);
  ASSERT_TRUE(program.solve());
  EXPECT_DOUBLE_EQ(program.value(0), 1);
  EXPECT_DOUBLE_EQ(program.price(0), 0);
  EXPECT_DOUBLE_EQ(program.price(1), 1);
  EXPECT_DOUBLE_EQ(program.price(2), 1);
  program.add_at_most(Terms{{1, 1}}, 1);  // tighter than its bound
  ASSERT_TRUE(program.solve());
  EXPECT_DOUBLE_EQ(program.value(1), 1);
  EXPECT_DOUBLE_EQ(program.price(1), 0);
  EXPECT_DOUBLE_EQ(program.price(3), 2);
}

TEST(LinearProgram, StopsAfterSoManyPivots) {
  solver::LinearProgram program(20);
  std::vector<solver::Term> all;
  for (std::size_t j = 0; j < 20; ++j) all.push_back({j, static_cast<std::int64_t>(j + 1)});
  program.maximise(all);
  for (std::size_t i = 0; i < 20; ++i) {
    std::vector<solver::Term> row;
    for (std::size_t j = 0; j < 20; ++j)
      row.push_back({j, static_cast<std::int64_t>((i * j) % 7 + 1)});
    program.add_at_most(row, static_cast<double>(10 + i % 3));
  }
  EXPECT_FALSE(program.solve(1));
  EXPECT_LE(program.pivots(), 1);
  EXPECT_TRUE(program.solve());
}

TEST(SimpleFractions, FindsWhatWasDivided) {
  const std::vector<double> values = {1.0 / 3, -22.0 / 7, 0, 5, 1e-13};
  const auto found = solver::simple_fractions(values, 1e-10, 1'000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->denominator, 21);
  EXPECT_THAT(found->numerators, ::testing::ElementsAre(7, -66, 0, 105, 0));
}

TEST(SimpleFractions, RefusesWhatHasNoSimpleOne) {
  EXPECT_FALSE(solver::simple_fractions(std::vector{std::sqrt(2.0)}, 1e-10, 1'000));
  EXPECT_FALSE(solver::simple_fractions(std::vector{1.0 / 31, 1.0 / 37}, 1e-10, 1'000));
  EXPECT_FALSE(solver::simple_fractions(std::vector{1e300}, 1e-10, 1'000));
  EXPECT_FALSE(solver::simple_fractions(std::vector{std::nan("")}, 1e-10, 1'000));
}

}  // namespace
}  // namespace forestcoll::testing
