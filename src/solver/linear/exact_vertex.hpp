// The solution that floating point stands near, from the rows that it makes tight.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "solver/linear/cut_program.hpp"
#include "solver/linear/simple_fractions.hpp"

namespace forestcoll::solver {

/// Where `values` (by variable) are those of a vertex of the program with these cuts: its exact
/// coordinates. A guess where numbers are large: whoever uses it proves it. Nothing where the rows
/// that are tight have no single solution, or its common denominator is above `max_denominator`.
/// Cost: that of `solve_exactly`.
[[nodiscard]] std::optional<CommonFractions> exact_vertex(const CutProgram& program,
                                                          std::span<const std::vector<Term>> cuts,
                                                          std::span<const double> values,
                                                          std::int64_t max_denominator);

}  // namespace forestcoll::solver
