// Linear equations over the rational numbers.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
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

/// The same in numbers of any size.
struct WideFractions {
  std::vector<boost::multiprecision::cpp_int> numerators;
  boost::multiprecision::cpp_int denominator = 1;
};

/// The solution of equations that have exactly one: modulo as many primes near 2^61 as it takes
/// until one more changes nothing. Perhaps wrong, if hardly ever: whoever uses it checks it.
/// Nothing where there is no unique solution, or where more than `kMostPrimes` are needed or
/// elimination would take too long. Cost: that of an elimination per prime.
inline constexpr int kMostPrimes = 40;
[[nodiscard]] std::optional<WideFractions> solve_widely(std::span<const Equation> equations,
                                                        std::size_t unknowns);

}  // namespace forestcoll::solver
