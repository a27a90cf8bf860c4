// Guessing the fractions that numbers in floating point stand for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace forestcoll::solver {

/// How far a fraction may be from the number that it is guessed from, relative to the largest; from
/// what floating point leaves of a vertex to what it leaves of a hard one.
inline constexpr std::array kGuessTolerances = {1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5};

struct CommonFractions {
  std::vector<std::int64_t> numerators;
  std::int64_t denominator = 1;
};

/// Of absolute values; 0 where there are none.
[[nodiscard]] double largest(std::span<const double> values);

/// Each value as the fraction of least denominator within `tolerance`, all over one denominator.
/// A guess: whoever uses it proves it. Nothing where the common denominator is above
/// `max_denominator`, or a numerator above 2^62.
[[nodiscard]] std::optional<CommonFractions> simple_fractions(std::span<const double> values,
                                                              double tolerance,
                                                              std::int64_t max_denominator);

}  // namespace forestcoll::solver
