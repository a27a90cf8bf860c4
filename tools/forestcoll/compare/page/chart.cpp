// A line for each algorithm over message sizes, both axes logarithmic.
#include "compare/page/chart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "compare/page/page_text.hpp"
#include "forestcoll/palette.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

constexpr int kNarrowBelow = 500;
constexpr double kLabelGap = 15, kFont = 12, kRowHeight = 18;

// "64K": short, for the axis.
std::string axis_size(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"", "K", "M", "G", "T"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.4g}{}", bytes, kUnits[unit]);
}

// 1, 2 and 5 times powers of ten, the first at most `least` and the last at least `most`; over many
// decades the powers alone.
std::vector<double> log_ticks(double least, double most) {
  constexpr double kManyDecades = 1000;
  const bool fine = most / least < kManyDecades;
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(least)));; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && !fine) continue;
      ticks.push_back(factor * power);
      if (ticks.back() >= most * (1 - 1e-9)) {
        const auto above = std::ranges::upper_bound(ticks, least * (1 + 1e-9));
        ticks.erase(ticks.begin(), above == ticks.begin() ? above : std::prev(above));
        return ticks;
      }
    }
  }
}

// Both axes are logarithmic. Same input, same bytes. REQUIRES: some series has a point above 0.
class ChartWriter {
 public:
  explicit ChartWriter(const Chart& chart) : chart_(chart), narrow_(chart.width < kNarrowBelow) {
    double least = 1e300, most = 0;
    for (const ChartSeries& series : chart.series) {
      for (const ChartPoint& point : series.points) {
        sizes_.insert(point.bytes);
        least = std::min(least, point.value);
        most = std::max(most, point.value);
      }
      if (series.named && !series.points.empty()) {
        names_ = std::max(names_, text_width(series.name, kFont));
      }
    }
    if (chart.limit && *chart.limit > 0) most = std::max(most, *chart.limit);
    ticks_ = log_ticks(std::min(least, most), most);
    if (ticks_.size() == 1) ticks_.push_back(ticks_[0] * 10);
    right_ = chart.width - (narrow_ ? 14 : names_ + 30);
    bottom_ = chart.height - 48;
  }

  std::string write() {
    const std::vector<std::string> rest = rest_in_words();
    const std::size_t rows = narrow_ ? (count_named() + 1) / 2 : 0;
    const double below = static_cast<double>(rows + rest.size()) * kRowHeight;
    const int height = chart_.height + static_cast<int>(below) + (rest.empty() ? 0 : 8);
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
    text("fc-ink fc-title", kLeftEdge, 18, "start", chart_.title);
    axes();
    print(
        "<line class=\"fc-cross fc-s0\" x1=\"0\" x2=\"0\" y1=\"{:.1f}\" y2=\"{:.1f}\" "
        "visibility=\"hidden\"/>\n",
        top_, bottom_);
    limit();
    // Grey lines first, ours last, above the others.
    for (const bool named : {false, true}) {
      for (std::size_t i = chart_.series.size(); i-- > 0;) {
        const ChartSeries& series = chart_.series[i];
        if (series.named == named && series.slot != 0) line(series);
      }
    }
    for (std::size_t i = chart_.series.size(); i-- > 0;) {
      if (chart_.series[i].slot == 0) line(chart_.series[i]);
    }
    if (narrow_) {
      legend();
    } else {
      labels();
    }
    double at = chart_.height + static_cast<double>(rows) * kRowHeight + 10;
    for (const std::string& words : rest) {
      text("fc-dim", kLeftEdge, at, "start", words);
      at += kRowHeight;
    }
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  static constexpr double kLeftEdge = 8;

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
    const double part = std::log(value / ticks_.front()) / std::log(ticks_.back() / ticks_.front());
    return bottom_ - std::clamp(part, 0.0, 1.0) * (bottom_ - top_);
  }

  [[nodiscard]] std::size_t count_named() const {
    return static_cast<std::size_t>(std::ranges::count(chart_.series, true, &ChartSeries::named));
  }

  // "grey: trees, rings", in lines as wide as the chart.
  [[nodiscard]] std::vector<std::string> rest_in_words() const {
    std::vector<std::string> lines;
    for (const ChartSeries& series : chart_.series) {
      if (series.named) continue;
      const double room = chart_.width - 2 * kLeftEdge;
      if (lines.empty()) {
        lines.push_back("grey: " + series.name);
      } else if (text_width(lines.back() + ", " + series.name, kFont) <= room) {
        lines.back() += ", " + series.name;
      } else {
        lines.back() += ",";
        lines.push_back(series.name);
      }
    }
    return lines;
  }

  void axes() {
    for (const double tick : ticks_) {
      print("<line class=\"fc-grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
            left_, right_, y(tick), y(tick));
      text("fc-dim", left_ - 6, y(tick) + 4, "end", number(tick));
    }
    const std::size_t most = narrow_ ? 5 : 9;
    const std::size_t every = (sizes_.size() + most - 1) / most;
    std::size_t i = 0;
    for (const double size : sizes_) {
      if (i++ % every == 0) text("fc-dim", x(size), bottom_ + 18, "middle", axis_size(size));
    }
    text("fc-dim", kLeftEdge, 36, "start", chart_.value_title);
    text("fc-dim", right_, bottom_ + 36, "end", "bytes of the whole buffer");
  }

  void limit() {
    if (!chart_.limit || *chart_.limit <= 0) return;
    const double at = y(*chart_.limit);
    print(
        "<line class=\"fc-best\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" "
        "stroke-dasharray=\"3 4\"/>\n",
        left_, right_, at, at);
    text("fc-dim", left_ + 6, at - 5, "start", chart_.limit_name);
  }

  static bool is_line(const ChartSeries& series) {
    return series.mark == Mark::line || series.mark == Mark::thin;
  }
  static const char* width_of(const ChartSeries& series) {
    if (!series.named) return "1.2";
    if (series.slot == 0) return series.mark == Mark::line ? "3.4" : "2.4";
    return series.mark == Mark::line ? "2" : "1.4";
  }
  static std::string class_of(const ChartSeries& series) {
    return series.named ? fmt::format("fc-s{}", series.slot) : "fc-rest";
  }

  void line(const ChartSeries& series) {
    if (series.points.empty()) return;
    print("<g class=\"fc-series {}\"><title>{}</title>\n", class_of(series),
          xml_escaped(series.name));
    if (is_line(series)) {
      std::vector<std::string> points;
      for (const ChartPoint& point : series.points) {
        points.push_back(fmt::format("{:.1f},{:.1f}", x(point.bytes), y(point.value)));
      }
      print("<polyline class=\"fc-line\" stroke-width=\"{}\" points=\"{}\"/>\n", width_of(series),
            fmt::join(points, " "));
    }
    // A line through one point would not be seen.
    if (!is_line(series) || series.points.size() == 1) {
      for (const ChartPoint& point : series.points) {
        point_mark(series, x(point.bytes), y(point.value));
      }
    }
    out_ += "</g>\n";
  }

  void point_mark(const ChartSeries& series, double x, double y) {
    print("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n",
          series.mark == Mark::circle ? "fc-line" : "fc-mark", x, y);
  }

  // Names beside the ends of the lines, moved apart where they would overlap.
  void labels() {
    struct Label {
      const ChartSeries* series;
      double line, at;
    };
    std::vector<Label> labels;
    for (const ChartSeries& series : chart_.series) {
      if (series.points.empty() || !series.named) continue;
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
          label.series->slot, end, label.line, right_ + 12, label.at);
      text(fmt::format("fc-name fc-s{}", label.series->slot).c_str(), right_ + 16, label.at + 4,
           "start", label.series->name);
    }
  }

  // Names below the chart, in two columns, each cut where the column ends.
  void legend() {
    std::size_t i = 0;
    for (const ChartSeries& series : chart_.series) {
      if (!series.named) continue;
      const double at_x = i % 2 == 0 ? 10 : chart_.width / 2.0;
      const double at_y = chart_.height + 4 + static_cast<double>(i / 2) * kRowHeight;
      ++i;
      print("<g class=\"fc-s{}\">", series.slot);
      if (!is_line(series)) {
        point_mark(series, at_x + 11, at_y);
      } else {
        print(
            "<polyline class=\"fc-line\" stroke-width=\"{}\" points=\"{:.1f},{:.1f} "
            "{:.1f},{:.1f}\"/>",
            width_of(series), at_x, at_y, at_x + 22, at_y);
      }
      out_ += "</g>\n";
      text("fc-ink", at_x + 28, at_y + 4, "start", fitted(series.name, chart_.width / 2.0 - 40));
    }
  }

  // As much of a name as there is room for.
  static std::string fitted(const std::string& name, double room) {
    if (text_width(name, kFont) <= room) return name;
    std::string shown = name;
    while (!shown.empty() && text_width(shown + "…", kFont) > room) {
      do {
        shown.pop_back();
      } while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0x80U) != 0);
    }
    return shown + "…";
  }

  const Chart& chart_;
  bool narrow_;
  std::set<double> sizes_;
  std::vector<double> ticks_;
  double names_ = 0;
  double left_ = 56, top_ = 58, right_ = 0, bottom_ = 0;
  std::string out_;
};

}  // namespace

std::string write_chart(const Chart& chart) {
  return ChartWriter(chart).write();
}

}  // namespace forestcoll::cli
