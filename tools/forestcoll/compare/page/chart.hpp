// A line chart over message sizes, as SVG.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace forestcoll::cli {

/// How many colours there are.
constexpr std::size_t kChartSlots = 12;

struct ChartPoint {
  double bytes = 0, value = 0;
};

/// A line in its slot's dashes, a dotted line, points, hollow points.
enum class Mark { line, dots, dot, circle };

struct ChartSeries {
  std::string name;
  std::size_t slot = 0;  ///< its colour and dashes, below kChartSlots; 0 is ours
  Mark mark = Mark::line;
  std::vector<ChartPoint> points;
};

struct Chart {
  std::string title;
  std::string value_title;      ///< "algbw, GB/s"
  std::optional<double> limit;  ///< a dashed line across
  std::string limit_name;
  std::vector<ChartSeries> series;
  int width = 900, height = 460;  ///< below 500, names are listed below the chart
  bool standalone = true;         ///< with its colours, a background and an XML namespace
};

/// The width is shared by powers of two, the height is linear from 0. Same input, same bytes.
/// REQUIRES: some series has a point.
[[nodiscard]] std::string to_svg(const Chart& chart);

}  // namespace forestcoll::cli
