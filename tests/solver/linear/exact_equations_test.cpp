// Linear equations in exact arithmetic.
#include "solver/linear/exact_equations.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace forestcoll::solver {
namespace {

constexpr std::int64_t kAny = std::int64_t{1} << 60;

TEST(ExactEquations, AreSolvedInFractions) {
  // x + 2y = 1, 3x - y = 5, and one that follows from them.
  const std::vector<Equation> equations = {
      {{{0, 1}, {1, 2}}, 1}, {{{0, 3}, {1, -1}}, 5}, {{{0, 4}, {1, 1}}, 6}};
  const auto solution = solve_exactly(equations, 2, kAny);
  ASSERT_TRUE(solution);
  EXPECT_EQ(solution->denominator, 7);
  EXPECT_EQ(solution->numerators, (std::vector<std::int64_t>{11, -2}));
  EXPECT_FALSE(solve_exactly(equations, 2, 6));  // the denominator is too large
}

TEST(ExactEquations, WithoutAUniqueSolutionHaveNone) {
  EXPECT_FALSE(solve_exactly(std::vector<Equation>{{{{0, 1}, {1, 1}}, 2}}, 2, kAny));
  EXPECT_FALSE(solve_exactly(std::vector<Equation>{{{{0, 1}}, 2}, {{{0, 2}}, 5}}, 1, kAny));
  EXPECT_FALSE(solve_exactly(std::vector<Equation>{{{{0, 1}}, 2}}, 2, kAny));
}

// Coefficients of 1 and -1 as in flows; the solution is checked by putting it in.
TEST(ExactEquations, OfRandomSystemsHold) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t n = 5 + random() % 25;
    std::vector<Equation> equations(n);
    for (std::size_t r = 0; r < n; ++r) {
      equations[r].terms.push_back({r, 1 + static_cast<std::int64_t>(random() % 3)});
      for (std::size_t c = 0; c < n; ++c) {
        if (c != r && random() % 6 == 0) equations[r].terms.push_back({c, random() % 2 ? 1 : -1});
      }
      equations[r].right = static_cast<std::int64_t>(random() % 9);
    }
    const auto solution = solve_exactly(equations, n, kAny);
    if (!solution) continue;  // singular, or too large
    for (const Equation& equation : equations) {
      Int128 sum = 0;
      for (const Term& term : equation.terms) {
        sum += static_cast<Int128>(term.coefficient) * solution->numerators[term.variable];
      }
      EXPECT_TRUE(sum == static_cast<Int128>(equation.right) * solution->denominator) << seed;
    }
    if (seed == 0) {
      EXPECT_GT(solution->denominator, 1);  // not a system that floating point would guess
    }
  }
}

}  // namespace
}  // namespace forestcoll::solver
