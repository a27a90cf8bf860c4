// A chart of rates over sizes, as SVG.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forestcoll::cli {

/// A thick line, a thin one of the same colour, points, hollow points.
enum class Mark { line, thin, dot, circle };

struct ChartPoint {
  double bytes = 0, value = 0;
};

/// How many colours there are. The last is that of the runtime's own choice.
inline constexpr std::size_t kChartSlots = 13;

struct ChartSeries {
  std::string name;
  std::size_t slot = 0;  ///< its colour, below kChartSlots; 0 is ours
  Mark mark = Mark::line;
  std::vector<ChartPoint> points;
  bool named = true;  ///< false: grey, without a name
};

/// Ours, the runtime's own choice and those that come closest to the best at any size keep their
/// names; of equal ones the first. Names stay as they stand in the tables, whatever their number
/// here.
void choose_named(std::vector<ChartSeries>& series);

/// The colour of the others in their order, from 0 on.
[[nodiscard]] constexpr std::size_t slot_of_other(std::size_t number) {
  return number % (kChartSlots - 2) + 1;
}

/// What everybody compares with.
[[nodiscard]] bool is_runtimes_choice(std::string_view algorithm);

struct Chart {
  std::string title;
  std::string value_title;      ///< "algbw, GB/s"
  std::optional<double> limit;  ///< a dashed line across
  std::string limit_name;
  std::vector<ChartSeries> series;
  int width = 900, height = 460;  ///< below 500, names are listed below the chart
  bool standalone = true;         ///< with its colours, a background and an XML namespace
};

/// Solid lines on logarithmic axes, ours above the others, names at the ends of the lines; grey
/// ones are listed below. Same input, same bytes. REQUIRES: some series has a point, all are above
/// 0.
[[nodiscard]] std::string write_chart(const Chart& chart);

}  // namespace forestcoll::cli
