// The lines of a comparison's chart, and which of them have names.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/report/report.hpp"
#include "compare/page/chart.hpp"
#include "compare/page/page.hpp"
#include "compare/words.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

// Ours has the first colour wherever it stands, and the runtime's own choice the last.
std::size_t slot_of(const Comparison& comparison, const ComparedRow& row) {
  if (row.algorithm == kOurs) return 0;
  if (is_runtimes_choice(row.algorithm)) return kChartSlots - 1;
  std::size_t number = 0;
  for (const ComparedRow& other : comparison.rows) {
    if (&other == &row) break;
    if (other.algorithm != kOurs) ++number;
  }
  return slot_of_other(number);
}

// The name without its folders, and no longer than there is room for in a chart.
std::string short_name(const std::string& file) {
  constexpr std::size_t kMost = 20;
  std::string name = std::filesystem::path(file).filename().string();
  if (name.size() <= kMost) return name;
  std::size_t end = kMost - 1;
  while ((static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;  // inside a character
  return name.substr(0, end) + "…";
}

}  // namespace

bool has_times(const Comparison& comparison) {
  for (const ComparedRow& row : comparison.rows) {
    if (!row.times.empty() || !row.program_times.empty()) return true;
  }
  return false;
}

std::string to_chart(const Comparison& comparison, int width, bool standalone) {
  const Fabric& fabric = *comparison.fabric;
  Chart chart;
  chart.width = width;
  chart.height = width < 500 ? 330 : 440;
  chart.standalone = standalone;
  chart.title = fmt::format("{}, {}", comparison.collective_name, fabric.topology.name);
  chart.value_title = fmt::format("algbw, GB/s: {}", comparison.measured.empty()
                                                         ? kModelNotMeasurement
                                                         : "lines are a model, points measured");
  chart.limit = comparison.optimum.to_double();
  chart.limit_name = fmt::format("{}: {} GB/s", optimum_name(comparison), number(*chart.limit));
  // Programs are told apart where trees are shown beside them.
  const bool trees = std::ranges::any_of(comparison.rows, [](const ComparedRow& row) {
    return !times_of(row, Simulated::trees).empty() || !times_of(row, Simulated::flows).empty();
  });
  for (const Simulated kind : kSimulatedKinds) {
    for (const ComparedRow& row : comparison.rows) {
      if (times_of(row, kind).empty()) continue;
      const bool program = trees && kind == Simulated::program;
      ChartSeries series{short_name(row.algorithm) + (program ? ", program" : ""),
                         slot_of(comparison, row),
                         program ? Mark::thin : Mark::line,
                         {}};
      for (const SimulatedTime& time : times_of(row, kind)) {
        if (time.algbw > 0) series.points.push_back({time.bytes, time.algbw});
      }
      chart.series.push_back(std::move(series));
    }
  }
  for (const MeasuredRun& run : comparison.measured) {
    ChartSeries series{fmt::format("{}{} {}", run.origin.text.empty() ? "" : run.origin.text + ": ",
                                   short_name(run.file), run.placement),
                       slot_of(comparison, *find_row(comparison, run.algorithm)),
                       run.placement == "in-place" ? Mark::circle : Mark::dot,
                       {}};
    for (const MeasuredTime& time : run.times) {
      if (time.wrong || time.measured.algbw <= 0) continue;
      series.points.push_back({time.measured.bytes, time.measured.algbw});
    }
    chart.series.push_back(std::move(series));
  }
  choose_named(chart.series);
  return write_chart(chart);
}

}  // namespace forestcoll::cli
