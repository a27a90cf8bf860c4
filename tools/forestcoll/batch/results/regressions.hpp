// What became worse since an earlier run, or is not the same.
#pragma once

#include <string>
#include <vector>

#include "batch/results/results.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli::batch {

/// A kind of regression that is no failure, for the inputs that `pattern` matches.
struct Allowance {
  std::string what;     ///< "rate", "height" or "file"
  std::string pattern;  ///< see `matches`; empty: all
};
/// From "KIND" or "KIND:PATTERN". Errors: S03.
[[nodiscard]] Expected<Allowance> parse_allowance(const std::string& text);

/// Items of `before` that are made now with a lower rate, higher trees or other bytes, or that fail
/// now and did not. Rates are compared exactly. What is only in one of the two, or skipped in one,
/// is left out.
[[nodiscard]] std::vector<Regression> regressions_since(const Results& before, const Results& now,
                                                        const std::vector<Allowance>& allowed);

/// Items of `before` that `now` does not have.
[[nodiscard]] std::size_t missing_since(const Results& before, const Results& now);

}  // namespace forestcoll::cli::batch
