// Exact proofs of what floating point found for the allreduce program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/allreduce_program.hpp"

namespace forestcoll::solver {

/// The rows of the program in the order in which they were added; bounds of the last two are 0.
struct AllreduceRows {
  std::vector<CapacityRow> capacity;
  std::vector<std::vector<Term>> balance;  ///< equations
  std::vector<std::vector<Term>> cuts;
};

/// What the prices (by row) of an optimum prove: in the network's units, no solution of the
/// program is worth more. Whatever the prices are, the bound holds; with the right ones it is the
/// optimum. Prices are taken as the simple fractions near them that give the best bound. Nothing
/// where exact arithmetic overflows or the prices prove nothing.
/// Cost: O(size of the rows), a few times.
[[nodiscard]] std::optional<Ratio> prove_upper(const AllreduceProgram& program,
                                               const AllreduceRows& rows,
                                               std::span<const double> prices);

/// A solution with a common denominator.
struct ExactSolution {
  std::vector<std::int64_t> numerators;  ///< by variable
  std::int64_t denominator = 1;
};

/// A solution near `values` (by variable) that is worth `worth` exactly and keeps all rows, and
/// all cuts, those that were never generated too: proved by maximum flows. Nothing where none is
/// found among the simple fractions near them.
/// Cost: a maximum flow per phase and orbit of ranks, a few times at most.
[[nodiscard]] std::optional<ExactSolution> prove_reached(const Network& network,
                                                         const AllreduceProgram& program,
                                                         const AllreduceRows& rows,
                                                         std::span<const double> values,
                                                         const Ratio& worth);

}  // namespace forestcoll::solver
