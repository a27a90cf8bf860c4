// The times of a comparison as a chart.
#pragma once

#include <string>

#include "compare/comparison.hpp"

namespace forestcoll::cli {

/// The chart of algbw over size as an SVG file, `width` pixels wide. REQUIRES: has_times().
[[nodiscard]] std::string to_chart(const Comparison& comparison, int width, bool standalone);
[[nodiscard]] bool has_times(const Comparison& comparison);

}  // namespace forestcoll::cli
