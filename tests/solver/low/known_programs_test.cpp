// What is known of programs is what solving them anew gives.
#include "solver/low/known_programs.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

Network fabric_of_programs(std::uint64_t seed) {
  return test::random_fabric(seed, {.max_compute = 6, .max_switches = 2, .one_way = seed % 2 == 1});
}

TEST(KnownPrograms, AnswerAsIfNothingWereKnown) {
  solver::KnownPrograms known;
  for (std::uint64_t seed = 900; seed < 905; ++seed) {
    for (const std::int32_t height : {1, 2, 3}) {
      for (const double part : {0.0, 0.99, 1.01}) {  // without a limit first
        solver::LowProblem problem = solver::low_allreduce(fabric_of_programs(seed), height);
        const auto free = solver::solve_low(problem, {});
        if (free && part > 0) problem.most_congestion = free->congestion * part;
        const auto anew = solver::solve_low(problem, {});
        const auto found = known.solve(problem, {});
        ASSERT_EQ(found != nullptr, anew.has_value()) << seed << ' ' << height << ' ' << part;
        if (found && part == 0) {
          EXPECT_EQ(found->congestion, anew->congestion);
        }
        if (found && part > 0) {
          EXPECT_LE(found->congestion, *problem.most_congestion * (1 + 1e-6));
        }
        EXPECT_EQ(known.solve(problem, {}), found) << "is solved once";
      }
    }
  }
}

}  // namespace
}  // namespace forestcoll
