// How many trees per root: what can be asked for, and what each number reaches.
#pragma once

#include <cstdint>

#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// How many trees per root (and unit of its weight).
struct TreesPerRoot {
  enum class Mode {
    optimal,       ///< the least k that reaches the optimum
    fixed,         ///< exactly `value`
    power_of_two,  ///< the best power of two up to `value`; the smallest of equals
    best_up_to,    ///< the best k up to `value`; the smallest of equals
  };
  Mode mode = Mode::optimal;
  std::int64_t value = 0;
};

/// One k and what it reaches: a row of the trade-off that a search over k reports.
struct RateAtK {
  std::int64_t k;
  Ratio algbw;  ///< GB/s
};

}  // namespace forestcoll
