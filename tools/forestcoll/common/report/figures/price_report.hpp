// What a failure costs: the figures of a collective before it and after it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/report/figures/rate_report.hpp"
#include "common/report/report.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {

/// Of one fabric; none where no schedules were made.
using Reached = std::optional<Expected<Ratio>>;

/// One collective. Times are those of schedules, by size; empty where none are simulated.
struct FailurePrice {
  std::string collective;
  RateFigures before, after;
  Reached reached_before = {}, reached_after = {};
  std::vector<SimulatedTime> times_before = {}, times_after = {};
};

/// A table with a line for each figure, the optimum by trees only where it differs from the
/// optimum, and for each size. Its last line is ended.
[[nodiscard]] std::string in_words(const std::vector<FailurePrice>& prices);
/// Of one collective, indented, the last line not ended.
[[nodiscard]] std::string in_words(const FailurePrice& price);

/// {"optimum", "optimum_by_trees"} and of schedules {"reached"}, each {"before", "after",
/// "change"}; "times", if any, of {"bytes", "before", "after", "change"} in seconds. "change" is a
/// part of what was before, and not there where one of the two is not known.
[[nodiscard]] Json to_json(const FailurePrice& price);

}  // namespace forestcoll::cli
