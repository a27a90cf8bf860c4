// The chart of a comparison, as SVG: a line for each algorithm over message sizes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/report/report.hpp"
#include "compare/page/page.hpp"
#include "compare/page/page_text.hpp"
#include "compare/words.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

// How many colours there are.
constexpr std::size_t kChartSlots = 12;

struct ChartPoint {
  double bytes = 0, value = 0;
};

// A line in its slot's dashes, a dotted line, points, hollow points.
enum class Mark { line, dots, dot, circle };

struct ChartSeries {
  std::string name;
  std::size_t slot = 0;  // its colour and dashes, below kChartSlots; 0 is ours
  Mark mark = Mark::line;
  std::vector<ChartPoint> points;
};

struct Chart {
  std::string title;
  std::string value_title;      // "algbw, GB/s"
  std::optional<double> limit;  // a dashed line across
  std::string limit_name;
  std::vector<ChartSeries> series;
  int width = 900, height = 460;  // below 500, names are listed below the chart
  bool standalone = true;         // with its colours, a background and an XML namespace
};

constexpr int kNarrowBelow = 500;
constexpr double kLabelGap = 15;
constexpr std::array<const char*, 4> kDashes = {"", "7 3", "2 3", "9 3 2 3"};

// 1, 2, 2.5 or 5 times a power of ten, so that some five of them reach `most`.
double nice_step(double most) {
  const double rough = most / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

// "64K": short, for the axis.
std::string axis_size(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"", "K", "M", "G", "T"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.4g}{}", bytes, kUnits[unit]);
}

// The width is shared by powers of two, the height is linear from 0. Same input, same bytes.
// REQUIRES: some series has a point.
class ChartWriter {
 public:
  explicit ChartWriter(const Chart& chart) : chart_(chart), narrow_(chart.width < kNarrowBelow) {
    for (const ChartSeries& series : chart.series) {
      for (const ChartPoint& point : series.points) {
        sizes_.insert(point.bytes);
        most_ = std::max(most_, point.value);
      }
    }
    if (chart.limit) most_ = std::max(most_, *chart.limit);
    if (most_ <= 0) most_ = 1;
    step_ = nice_step(most_);
    top_value_ = std::ceil(most_ / step_ - 1e-9) * step_;
    right_ = chart.width - (narrow_ ? 10 : 150);
    bottom_ = top_ + (chart.height - top_ - 48);
  }

  std::string write() {
    const std::size_t rows = narrow_ ? (chart_.series.size() + 1) / 2 : 0;
    const int height = chart_.height + static_cast<int>(rows) * 18;
    std::vector<std::string> sizes;
    std::vector<std::string> places;
    for (const double size : sizes_) {
      sizes.push_back(fmt::format("{:.0f}", size));
      places.push_back(fmt::format("{:.1f}", x(size)));
    }
    print(
        "<svg class=\"fc-chart\"{} viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" "
        "data-sizes=\"[{}]\" data-x=\"[{}]\">\n",
        chart_.standalone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", chart_.width, height,
        xml_escaped(chart_.title), fmt::join(sizes, ","), fmt::join(places, ","));
    if (chart_.standalone) {
      print("<style>\n{}</style>\n<rect class=\"fc-paper\" width=\"{}\" height=\"{}\"/>\n",
            kPagePalette, chart_.width, height);
    }
    text("fc-ink fc-title", left_ - 42, 18, "start", chart_.title);
    axes();
    print(
        "<line class=\"fc-cross fc-s0\" x1=\"0\" x2=\"0\" y1=\"{:.1f}\" y2=\"{:.1f}\" "
        "visibility=\"hidden\"/>\n",
        top_, bottom_);
    limit();
    // Ours is drawn last, above the others.
    for (std::size_t i = chart_.series.size(); i-- > 0;) line(chart_.series[i]);
    if (narrow_) {
      legend();
    } else {
      labels();
    }
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  template <class... T>
  void print(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
  }

  void text(const char* classes, double x, double y, const char* anchor, const std::string& words) {
    print("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", classes, x,
          y, anchor, xml_escaped(words));
  }

  [[nodiscard]] double x(double bytes) const {
    const double first = std::log2(*sizes_.begin());
    const double last = std::log2(*sizes_.rbegin());
    if (last <= first) return (left_ + right_) / 2;
    return left_ + (std::log2(bytes) - first) / (last - first) * (right_ - left_);
  }
  [[nodiscard]] double y(double value) const {
    return bottom_ - value / top_value_ * (bottom_ - top_);
  }

  void axes() {
    for (int i = 0; i * step_ <= top_value_ * (1 + 1e-9); ++i) {
      const double at = y(i * step_);
      print("<line class=\"fc-grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
            left_, right_, at, at);
      text("fc-dim", left_ - 6, at + 4, "end", number(i * step_));
    }
    const std::size_t most = narrow_ ? 5 : 9;
    const std::size_t every = (sizes_.size() + most - 1) / most;
    std::size_t i = 0;
    for (const double size : sizes_) {
      if (i++ % every == 0) text("fc-dim", x(size), bottom_ + 18, "middle", axis_size(size));
    }
    text("fc-dim", left_ - 42, 36, "start", chart_.value_title);
    text("fc-dim", right_, bottom_ + 36, "end", "bytes of the whole buffer");
  }

  void limit() {
    if (!chart_.limit) return;
    const double at = y(*chart_.limit);
    print(
        "<line class=\"fc-best\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" "
        "stroke-dasharray=\"3 4\"/>\n",
        left_, right_, at, at);
    text("fc-dim", left_ + 6, at - 5, "start", chart_.limit_name);
  }

  void line(const ChartSeries& series) {
    if (series.points.empty()) return;
    print("<g class=\"fc-series fc-s{}\"><title>{}</title>\n", series.slot,
          xml_escaped(series.name));
    if (is_line(series)) {
      std::vector<std::string> points;
      for (const ChartPoint& point : series.points) {
        points.push_back(fmt::format("{:.1f},{:.1f}", x(point.bytes), y(point.value)));
      }
      print("<polyline class=\"fc-line\" stroke-width=\"{}\"{} points=\"{}\"/>\n",
            series.slot == 0 ? "3.2" : "1.8", dash(series), fmt::join(points, " "));
    } else {
      for (const ChartPoint& point : series.points) {
        point_mark(series, x(point.bytes), y(point.value));
      }
    }
    out_ += "</g>\n";
  }

  void point_mark(const ChartSeries& series, double x, double y) {
    print("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n",
          series.mark == Mark::dot ? "fc-mark" : "fc-line", x, y);
  }

  static bool is_line(const ChartSeries& series) {
    return series.mark == Mark::line || series.mark == Mark::dots;
  }

  static std::string dash(const ChartSeries& series) {
    if (series.mark == Mark::dots) return " stroke-dasharray=\"1 3\"";
    const char* pattern = series.slot == 0 ? "" : kDashes[(series.slot - 1) % kDashes.size()];
    return *pattern == '\0' ? "" : fmt::format(" stroke-dasharray=\"{}\"", pattern);
  }

  // Names beside the ends of the lines, moved apart where they would overlap.
  void labels() {
    struct Label {
      const ChartSeries* series;
      double line, at;
    };
    std::vector<Label> labels;
    for (const ChartSeries& series : chart_.series) {
      if (series.points.empty()) continue;
      const double at = y(series.points.back().value);
      labels.push_back({&series, at, at});
    }
    std::ranges::stable_sort(labels, {}, &Label::at);
    for (std::size_t i = 1; i < labels.size(); ++i) {
      labels[i].at = std::max(labels[i].at, labels[i - 1].at + kLabelGap);
    }
    if (!labels.empty()) labels.back().at = std::min(labels.back().at, bottom_);
    for (std::size_t i = labels.size(); i-- > 1;) {
      labels[i - 1].at = std::min(labels[i - 1].at, labels[i].at - kLabelGap);
    }
    for (const Label& label : labels) {
      const double end = x(label.series->points.back().bytes);
      print(
          "<polyline class=\"fc-line fc-s{}\" stroke-width=\"1\" opacity=\".6\" "
          "points=\"{:.1f},{:.1f} {:.1f},{:.1f}\"/>\n",
          label.series->slot, end, label.line, right_ + 10, label.at);
      text(fmt::format("fc-name fc-s{}", label.series->slot).c_str(), right_ + 14, label.at + 4,
           "start", label.series->name);
    }
  }

  // Names below the chart, in two columns.
  void legend() {
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const ChartSeries& series = chart_.series[i];
      const double at_x = i % 2 == 0 ? 10 : chart_.width / 2.0;
      const std::size_t row = i / 2;
      const double at_y = chart_.height + 4 + static_cast<double>(row) * 18;
      print("<g class=\"fc-s{}\">", series.slot);
      if (!is_line(series)) {
        point_mark(series, at_x + 11, at_y);
      } else {
        print(
            "<polyline class=\"fc-line\" stroke-width=\"{}\"{} points=\"{:.1f},{:.1f} "
            "{:.1f},{:.1f}\"/>",
            series.slot == 0 ? "3.2" : "1.8", dash(series), at_x, at_y, at_x + 22, at_y);
      }
      out_ += "</g>\n";
      text("fc-ink", at_x + 28, at_y + 4, "start", series.name);
    }
  }

  const Chart& chart_;
  bool narrow_;
  std::set<double> sizes_;
  double most_ = 0, step_ = 1, top_value_ = 1;
  double left_ = 50, top_ = 46, right_ = 0, bottom_ = 0;
  std::string out_;
};

// Ours has the first colour wherever it stands.
std::size_t slot_of(const Comparison& comparison, const ComparedRow& row) {
  if (row.algorithm == kOurs) return 0;
  std::size_t slot = 1;
  for (const ComparedRow& other : comparison.rows) {
    if (&other == &row) break;
    if (other.algorithm != kOurs) ++slot;
  }
  return (slot - 1) % (kChartSlots - 1) + 1;
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
  for (const Simulated kind : kSimulatedKinds) {
    for (const ComparedRow& row : comparison.rows) {
      if (times_of(row, kind).empty()) continue;
      const bool program = kind == Simulated::program;
      ChartSeries series{short_name(row.algorithm) + (program ? ", program" : ""),
                         slot_of(comparison, row),
                         program ? Mark::dots : Mark::line,
                         {}};
      for (const SimulatedTime& time : times_of(row, kind)) {
        series.points.push_back({time.bytes, time.algbw});
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
      if (time.wrong) continue;
      series.points.push_back({time.measured.bytes, time.measured.algbw});
    }
    chart.series.push_back(std::move(series));
  }
  return ChartWriter(chart).write();
}

}  // namespace forestcoll::cli
