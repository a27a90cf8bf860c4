// Linear equations over the rational numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "solver/linear/linear_program.hpp"
#include "solver/linear/simple_fractions.hpp"

namespace forestcoll::solver {

/// Σ terms = right.
struct Equation {
  std::vector<Term> terms;
  std::int64_t right = 0;
};

/// The solution of equations that have exactly one, over a common denominator: what is left of a
/// linear program once floating point has told which constraints are tight. By sparse elimination
/// modulo two primes near 2^61 and rational reconstruction (Wang 1981): right where the numerators
/// and denominators are below 2^60, else perhaps wrong: whoever uses it checks it. Nothing where
/// there is no unique solution, the common denominator is above `max_denominator`, or elimination
/// would take too long.
[[nodiscard]] std::optional<CommonFractions> solve_exactly(std::span<const Equation> equations,
                                                           std::size_t unknowns,
                                                           std::int64_t max_denominator);

}  // namespace forestcoll::solver
