// Whole numbers of low trees, of the amounts of a linear program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/low/low_program.hpp"

namespace forestcoll::solver {

/// How often each column is taken, and what that needs: the largest load of a link by its capacity.
struct LowCounts {
  std::vector<std::int64_t> counts;
  Ratio scale;
};

/// The amounts themselves, in the least whole numbers: the solution of the rows that floating point
/// says are tight, over the rational numbers. Nothing where they have no single one, or it is not a
/// solution of the program, or its numbers are large. Cost: that of `solve_exactly`.
[[nodiscard]] std::optional<LowCounts> exact_counts(const LowProblem& problem,
                                                    const LowSolution& solution);

/// The same rounded, so that each root has `total` times its share, or where shares are any ones
/// all together so many: the largest remainders first; then single trees are exchanged as long as
/// that takes load off the fullest links. REQUIRES: `total` is positive. Cost: bounded in steps,
/// some 50 ms at most.
[[nodiscard]] LowCounts rounded_counts(const LowProblem& problem, const LowSolution& solution,
                                       std::int64_t total);

/// The amounts as they are, in parts of 2^-30 of all, for loads: what a root has, and what the
/// phases have, may differ by so little from what is owed.
[[nodiscard]] LowCounts near_counts(const LowProblem& problem, const LowSolution& solution);

/// By root: how many trees of the first phase there are.
[[nodiscard]] Weights roots_of(const LowProblem& problem, const LowSolution& solution,
                               const LowCounts& counts);

/// The trees of one phase.
[[nodiscard]] Forest low_forest(const LowProblem& problem, const LowSolution& solution,
                                const LowCounts& counts, std::size_t phase);

}  // namespace forestcoll::solver
