// Solutions in the middle of what a program of trees allows.
#include "solver/linear/even_solution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "solver/allreduce/allreduce_program.hpp"
#include "solver/allreduce/split.hpp"
#include "solver/linear/all_cuts.hpp"
#include "solver/linear/cut_proof.hpp"
#include "solver/linear/nearest_exact.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::testing {
namespace {

using solver::AllreduceFabric;
using solver::AllreduceProgram;
using solver::CutGeneration;

struct Solved {
  AllreduceFabric fabric;
  AllreduceProgram program;
  CutGeneration generation;
  double worth = 0;

  explicit Solved(const Network& network)
      : fabric(network, {}),
        program(AllreduceProgram::of_shares(fabric, uniform_weights(network))),
        generation(program.program()) {
    EXPECT_EQ(generation.run({}), CutGeneration::Outcome::complete);
    worth = generation.worth();
  }

  // What nodes own of a part of what the program is worth.
  [[nodiscard]] std::vector<double> owned(double part) const {
    std::vector<double> values = generation.values();
    for (double& value : values) value *= part;
    return values;
  }
};

double sum(const std::vector<solver::Term>& terms, const std::vector<double>& values,
           const std::vector<double>& totals) {
  double result = 0;
  for (const auto& [variable, coefficient] : terms) {
    const bool is_total = variable >= values.size();
    result += static_cast<double>(coefficient) *
              (is_total ? totals[variable - values.size()] : values[variable]);
  }
  return result;
}

// Of all cuts, by definition: the largest lack, as a part of the data.
double worst_lack(const Network& network, const AllreduceProgram& program,
                  const std::vector<double>& values) {
  const auto& commodities = program.program().commodities;
  std::vector<double> totals;
  for (const auto& trees : commodities) totals.push_back(sum(owned_terms(trees), values, {}));
  double worst = 0;
  test::for_each_cut(network, program.program(), [&](std::size_t p, const auto& row) {
    worst = std::max(worst, sum(row, values, totals) / totals[p]);
  });
  return worst;
}

TEST(EvenSolution, KeepsAllRowsAndCuts) {
  const std::stop_token never;
  int found = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const std::string what = "seed " + std::to_string(seed);
    const Network network =
        test::random_fabric(seed, {.max_compute = 6, .max_switches = 3, .one_way = seed % 2 == 0});
    Solved solved(network);
    const auto values =
        even_solution(solved.program.program(), solved.owned(0.99), solved.generation, never);
    if (!values) continue;
    ++found;
    EXPECT_LE(worst_lack(network, solved.program, *values), 1e-4) << what;
    const double slack = 1e-4 * solved.worth;
    for (const auto& row : solved.program.program().capacity) {
      EXPECT_LE(sum(row.terms, *values, {}), static_cast<double>(row.bound) + slack) << what;
    }
    for (const auto& row : solved.program.program().balance) {
      EXPECT_NEAR(sum(row, *values, {}), 0, slack) << what;
    }
  }
  EXPECT_GE(found, 115);
}

// A chain of links leads to the middle: what a lack of one rank takes is a little from all.
TEST(EvenSolution, IsTheMiddleWhereThatIsEnough) {
  const Network network = test::torus({3, 4});
  Solved solved(network);
  const auto values =
      even_solution(solved.program.program(), solved.owned(0.9), solved.generation, {});
  ASSERT_TRUE(values);
  for (const std::size_t j : solved.program.program().commodities.front().variable) {
    EXPECT_NEAR((*values)[j], 0.5 * static_cast<double>(network.capacity[ArcId(0)]), 1e-6);
  }
}

TEST(EvenSolution, IsNoneWhereNothingCarriesWhatIsOwned) {
  const Network network = test::torus({3, 4});
  Solved solved(network);
  EXPECT_FALSE(even_solution(solved.program.program(), solved.owned(1.2), solved.generation, {}));
}

// Whole numbers, by definition: balanced, within the capacities, alike within an orbit, and nearly
// as much as they were made of.
TEST(WholePaths, AreBalancedAndNearlyAsMuch) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::string what = "seed " + std::to_string(seed);
    const Network network =
        test::random_fabric(seed, {.max_compute = 6, .max_switches = 3, .one_way = seed % 2 == 0});
    Solved solved(network);
    const auto values =
        even_solution(solved.program.program(), solved.owned(0.99), solved.generation, {});
    if (!values) continue;
    const auto whole = whole_paths(solved.fabric, solved.program, *values);
    ASSERT_TRUE(whole) << what;
    ++found;
    const auto& program = solved.program.program();
    for (const auto& row : program.balance) {
      Int128 rest = 0;
      for (const auto& term : row)
        rest += Int128{term.coefficient} * whole->numerators[term.variable];
      EXPECT_TRUE(rest == 0) << what;
    }
    for (const auto& row : program.capacity) {
      Int128 taken = 0;
      for (const auto& term : row.terms) {
        taken += Int128{term.coefficient} * whole->numerators[term.variable];
      }
      EXPECT_TRUE(taken <= Int128{row.bound} * whole->denominator) << what;
    }
    for (const auto& trees : program.commodities) {
      for (const std::size_t j : trees.variable) {
        const double near =
            static_cast<double>(whole->numerators[j]) / static_cast<double>(whole->denominator);
        EXPECT_NEAR(near, (*values)[j], 1e-4 * solved.worth) << what;
      }
    }
  }
  EXPECT_GE(found, 55);
}

// A path that turns at once leaves a circle of switches, which is as much a part of the flow.
TEST(WholePaths, TakeWhatGoesRoundInSwitches) {
  const Network network = test::dgx_a100(3);
  Solved solved(network);
  const auto values =
      even_solution(solved.program.program(), solved.owned(0.95), solved.generation, {});
  ASSERT_TRUE(values);
  const auto whole = whole_paths(solved.fabric, solved.program, *values);
  ASSERT_TRUE(whole);
  for (const std::size_t j : solved.program.program().commodities.front().variable) {
    EXPECT_GT(whole->numerators[j], 0);
  }
}

// What is owned where all that the program proves is, times a part.
solver::ExactSolution most_owned(const Solved& solved, const Ratio& part) {
  const solver::CutProgram& program = solved.program.program();
  const auto upper =
      solver::prove_upper(program, solved.generation.cuts(), solved.generation.prices());
  const solver::Term& all = program.objective.front();
  const Ratio each = upper->bound * part / Ratio(all.coefficient);
  solver::ExactSolution owned{std::vector<std::int64_t>(program.variables, 0), each.den()};
  owned.numerators[all.variable] = each.num();
  return owned;
}

Int128 exact_sum(const std::vector<solver::Term>& terms,
                 const std::vector<std::int64_t>& numerators) {
  Int128 result = 0;
  for (const auto& [variable, coefficient] : terms) {
    result += Int128{coefficient} * numerators[variable];
  }
  return result;
}

// Exactly, by definition: all rows, and all cuts.
bool keeps_all(const Network& network, const solver::CutProgram& program,
               const solver::ExactSolution& solution) {
  std::vector<std::int64_t> values = solution.numerators;
  for (const auto& trees : program.commodities) {
    values.push_back(static_cast<std::int64_t>(exact_sum(owned_terms(trees), solution.numerators)));
  }
  bool keeps = std::ranges::all_of(solution.numerators, [](auto n) { return n >= 0; });
  for (const auto& row : program.capacity) {
    keeps &= exact_sum(row.terms, values) <= Int128{row.bound} * solution.denominator;
  }
  for (const auto& row : program.balance) keeps &= exact_sum(row, values) == 0;
  test::for_each_cut(network, program, [&](std::size_t /*p*/, const auto& row) {
    keeps &= exact_sum(row, values) <= 0;
  });
  return keeps;
}

TEST(NearestExact, KeepsAllRowsAndCutsAtTheOptimum) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const std::string what = "seed " + std::to_string(seed);
    const Network network =
        test::random_fabric(seed, {.max_compute = 6, .max_switches = 3, .one_way = seed % 2 == 0});
    Solved solved(network);
    const auto& program = solved.program.program();
    const auto values = even_solution(program, solved.owned(1 - 1e-4), solved.generation, {});
    if (!values) continue;
    const auto owned = most_owned(solved, 1);
    const auto exact = nearest_exact(program, owned, *values, solved.generation, {});
    if (!exact) continue;
    ++found;
    EXPECT_TRUE(keeps_all(network, program, *exact)) << what;
    const std::size_t all = program.objective.front().variable;
    EXPECT_EQ(Ratio(exact->numerators[all], exact->denominator),
              Ratio(owned.numerators[all], owned.denominator))
        << what;
  }
  EXPECT_GE(found, 110);
}

// A grid has steps of a 16th of the largest value at most, and little moves beyond its rounding.
TEST(NearestExact, IsNearWhatItIsMadeOf) {
  const Network network = test::torus({3, 4});
  Solved solved(network);
  const auto& program = solved.program.program();
  const auto values = even_solution(program, solved.owned(0.9), solved.generation, {});
  ASSERT_TRUE(values);
  const auto exact =
      nearest_exact(program, most_owned(solved, Ratio(9, 10)), *values, solved.generation, {});
  ASSERT_TRUE(exact);
  const double middle = 0.5 * static_cast<double>(network.capacity[ArcId(0)]);
  for (const std::size_t j : program.commodities.front().variable) {
    const double taken =
        static_cast<double>(exact->numerators[j]) / static_cast<double>(exact->denominator);
    EXPECT_NEAR(taken, middle, middle / 16);
  }
}

TEST(NearestExact, IsNoneWhereNothingCarriesWhatIsOwned) {
  const Network network = test::torus({3, 4});
  Solved solved(network);
  const auto& program = solved.program.program();
  const auto values = even_solution(program, solved.owned(0.99), solved.generation, {});
  ASSERT_TRUE(values);
  EXPECT_FALSE(
      nearest_exact(program, most_owned(solved, Ratio(6, 5)), *values, solved.generation, {}));
}

}  // namespace
}  // namespace forestcoll::testing
