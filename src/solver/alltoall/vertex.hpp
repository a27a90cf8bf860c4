// The exact vertex that a solution in floating point is near to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "solver/alltoall/program.hpp"
#include "solver/linear/simple_fractions.hpp"

namespace forestcoll::solver::alltoall {

/// Of a program, by a simplex.
struct FloatSolution {
  double rate = 0;                ///< θ
  std::vector<double> flow;       ///< by variable, per unit of demand; 0 for variable 0
  std::vector<double> potential;  ///< by row of conservation
  std::vector<double> price;      ///< by row of capacity, 0 or more
};

/// The flows, by variable: those that are not 0, where conservation and all rows of capacity
/// without room hold as equations. A guess at what is tight, to be proved. Nothing where that has
/// no unique solution with such a denominator.
[[nodiscard]] std::optional<CommonFractions> exact_flows(const Program& program,
                                                         const FloatSolution& solution,
                                                         std::int64_t max_parts);

/// The prices, by row of capacity, of any scale: likewise, from the variables that are not 0 or
/// could be.
[[nodiscard]] std::optional<CommonFractions> exact_prices(const Program& program,
                                                          const FloatSolution& solution);

}  // namespace forestcoll::solver::alltoall
