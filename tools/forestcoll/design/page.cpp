#include "design/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <pugixml.hpp>
#include <sstream>
#include <utility>

#include "common/report/html_page.hpp"
#include "forestcoll/palette.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

constexpr double kWidth = 900, kHeight = 540;
constexpr double kLeft = 76, kRight = 30, kTop = 62, kBottom = 62;
constexpr double kFont = 12, kTitleFont = 16, kLabelFont = 11, kTicks = 6;
// A range over which points would crowd at one end of a linear axis.
constexpr double kLogarithmicFrom = 6;
constexpr double kThousand = 1e3, kMillion = 1e6;

// 50k and 2M of ticks that would be long; they are round.
std::string tick_text(double value) {
  if (value >= kMillion) return fmt::format("{:.6g}M", value / kMillion);
  if (value >= 10 * kThousand) return fmt::format("{:.6g}k", value / kThousand);
  return fmt::format("{:.6g}", value);
}

// Lines of a terminal as text that a page wraps.
std::string on_one_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Where a value stands on an axis: linear, or logarithmic where the range is wide.
class Axis {
 public:
  Axis(double least, double most, bool whole, double begin, double end) : begin_(begin), end_(end) {
    logarithmic_ = least > 0 && most / least >= kLogarithmicFrom;
    if (logarithmic_) {
      ticks_ = log_ticks(least, most);
    } else {
      const double fine = tick_step(std::max(most - least, most / 1000));
      const double step = whole ? std::max(fine, 1.0) : fine;
      for (double value = std::floor(least / step) * step;; value += step) {
        ticks_.push_back(value);
        if (value >= most - step * 1e-6) break;
      }
      if (ticks_.size() == 1) ticks_.push_back(ticks_[0] + step);
    }
  }

  [[nodiscard]] double at(double value) const {
    const double low = ticks_.front(), high = ticks_.back();
    const double part =
        logarithmic_ ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return begin_ + part * (end_ - begin_);
  }
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }

 private:
  // 1, 2 or 5 times a power of ten, so that some six of them reach `range`.
  static double tick_step(double range) {
    const double rough = range / kTicks;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor * power >= rough) return factor * power;
    }
    return 10 * power;
  }

  // From at most `least` to at least `most`.
  static std::vector<double> log_ticks(double least, double most) {
    constexpr double kFewDecades = 300;
    std::vector<double> ticks;
    for (double power = std::pow(10, std::floor(std::log10(least)));; power *= 10) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor > 1 && most / least > kFewDecades) continue;
        if (factor * power <= least) ticks.clear();
        ticks.push_back(factor * power);
        if (ticks.back() >= most) return ticks;
      }
    }
  }

  double begin_, end_;
  bool logarithmic_ = false;
  std::vector<double> ticks_;
};

std::pair<double, double> range_of(const Scatter& scatter, double ScatterPoint::*value) {
  double least = 1e300, most = -1e300;
  for (const ScatterPoint& point : scatter.points) {
    least = std::min(least, point.*value);
    most = std::max(most, point.*value);
  }
  // Close values are not drawn from 0.
  if (least > 0 && least < most / 2 && most / least < kLogarithmicFrom) least = 0;
  return {least, most};
}

class ScatterWriter {
 public:
  ScatterWriter(const Scatter& scatter, pugi::xml_node parent)
      : scatter_(scatter),
        svg_(parent.append_child("svg")),
        x_(axis(&ScatterPoint::x, kLeft, kWidth - kRight)),
        y_(axis(&ScatterPoint::y, kHeight - kBottom, kTop)) {}

  void write() {
    set(svg_, "xmlns", "http://www.w3.org/2000/svg");
    set(svg_, "viewBox", fmt::format("0 0 {:.0f} {:.0f}", kWidth, kHeight));
    set(svg_, "font-family", "Helvetica, Arial, 'DejaVu Sans', sans-serif");
    svg_.append_child("style").text().set(dark_style().c_str());
    auto paper = svg_.append_child("rect");
    set(paper, "width", "100%");
    set(paper, "height", "100%");
    set(paper, "fill", ink(Ink::paper));
    set(text(kLeft, 24, "start", kTitleFont, scatter_.title), "font-weight", "bold");
    text((kLeft + kWidth - kRight) / 2, kHeight - 16, "middle", kFont, scatter_.x_title);
    text(kLeft, kTop - 16, "start", kFont, scatter_.y_title);
    axes();
    key();
    front();
    for (const ScatterPoint& point : scatter_.points) {
      if (!point.marked) draw_point(point);
    }
    for (const ScatterPoint& point : scatter_.points) {
      if (point.marked) draw_point(point);
    }
    labels();
  }

 private:
  struct Area {
    double left = 0, right = 0, top = 0, bottom = 0;
    [[nodiscard]] bool covers(const Area& other) const {
      return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
  };

  static std::string ink(Ink what) { return std::string(color_of(what).light); }
  static std::string front_color() { return std::string(round_color(0).light); }

  [[nodiscard]] Axis axis(double ScatterPoint::*value, double begin, double end) const {
    const auto [least, most] = range_of(scatter_, value);
    const bool whole = std::ranges::all_of(scatter_.points, [value](const ScatterPoint& point) {
      return point.*value == std::floor(point.*value);
    });
    return {least, most, whole, begin, end};
  }

  static void set(pugi::xml_node node, const char* name, const std::string& value) {
    node.append_attribute(name).set_value(value.c_str());
  }

  pugi::xml_node text(double at_x, double at_y, const char* anchor, double size,
                      const std::string& words) {
    auto node = svg_.append_child("text");
    set(node, "x", fmt::format("{:.1f}", at_x));
    set(node, "y", fmt::format("{:.1f}", at_y));
    set(node, "text-anchor", anchor);
    set(node, "font-size", fmt::format("{}", size));
    set(node, "fill", ink(Ink::text));
    node.text().set(words.c_str());
    return node;
  }

  void line(double x1, double y1, double x2, double y2, Ink color) {
    auto node = svg_.append_child("line");
    set(node, "x1", fmt::format("{:.1f}", x1));
    set(node, "y1", fmt::format("{:.1f}", y1));
    set(node, "x2", fmt::format("{:.1f}", x2));
    set(node, "y2", fmt::format("{:.1f}", y2));
    set(node, "stroke", ink(color));
    set(node, "stroke-width", color == Ink::frame ? "0.6" : "1");
  }

  void axes() {
    const double low = kHeight - kBottom;
    for (const double tick : x_.ticks()) {
      line(x_.at(tick), low, x_.at(tick), kTop, Ink::frame);
      text(x_.at(tick), low + 20, "middle", kFont, tick_text(tick));
    }
    for (const double tick : y_.ticks()) {
      line(kLeft, y_.at(tick), kWidth - kRight, y_.at(tick), Ink::frame);
      text(kLeft - 8, y_.at(tick) + 4, "end", kFont, tick_text(tick));
    }
    line(kLeft, low, kWidth - kRight, low, Ink::outline);
    line(kLeft, low, kLeft, kTop, Ink::outline);
  }

  // The Pareto front of the two axes: a step from each of its points to the next.
  void front() {
    std::vector<std::pair<double, double>> points;
    const double sign = scatter_.more_is_better ? -1 : 1;
    for (const ScatterPoint& point : scatter_.points) points.emplace_back(point.x, sign * point.y);
    std::ranges::sort(points);
    std::string path;
    double best = 1e300;
    std::pair<double, double> corner;
    for (const auto& [x, y] : points) {
      if (y >= best) continue;
      best = y;
      const std::pair next(x_.at(x), y_.at(sign * y));
      if (!path.empty()) {
        taken_.push_back({corner.first, next.first, corner.second - 1, corner.second + 1});
        taken_.push_back({next.first - 1, next.first + 1, std::min(corner.second, next.second),
                          std::max(corner.second, next.second)});
      }
      corner = next;
      path += fmt::format("{}{:.1f}", path.empty() ? "M" : "H", x_.at(x));
      path +=
          fmt::format("{}{:.1f}", path.find('H') == std::string::npos ? " " : "V", y_.at(sign * y));
    }
    if (path.find('H') == std::string::npos) return;
    auto node = svg_.append_child("path");
    set(node, "class", "front");
    set(node, "d", path);
    set(node, "fill", "none");
    set(node, "stroke", front_color());
    set(node, "stroke-width", "1.6");
    set(node, "stroke-opacity", "0.6");
  }

  pugi::xml_node dot(double at_x, double at_y, bool marked, bool hollow) {
    const std::string color = marked ? front_color() : ink(Ink::broken);
    auto circle = svg_.append_child("circle");
    set(circle, "cx", fmt::format("{:.1f}", at_x));
    set(circle, "cy", fmt::format("{:.1f}", at_y));
    set(circle, "r", marked ? "5" : "3");
    set(circle, "fill", hollow ? ink(Ink::paper) : color);
    if (hollow) set(circle, "stroke", color);
    if (hollow) set(circle, "stroke-width", "1.5");
    return circle;
  }

  void draw_point(const ScatterPoint& point) {
    dot(x_.at(point.x), y_.at(point.y), point.marked, point.hollow)
        .append_child("title")
        .text()
        .set(point.name.c_str());
  }

  // What filled points and rings are, at the right above the axes.
  void key() {
    double end = kWidth - kRight;
    for (const bool hollow : {true, false}) {
      const std::string& name = hollow ? scatter_.hollow_name : scatter_.filled_name;
      if (name.empty()) continue;
      text(end, kTop - 16, "end", kFont, name);
      end -= text_width(name, kFont) + 10;
      dot(end, kTop - 20, true, hollow);
      end -= 24;
    }
  }

  // Each name of the front beside its point, or a little way off with a line to it, where it covers
  // no point and no other name. A name without such a place is shown on pointing at it alone.
  void labels() {
    for (const ScatterPoint& point : scatter_.points) {
      const double half = point.marked ? 6 : 4;
      taken_.push_back({x_.at(point.x) - half, x_.at(point.x) + half, y_.at(point.y) - half,
                        y_.at(point.y) + half});
    }
    for (const ScatterPoint& point : scatter_.points) {
      if (point.marked) label(point);
    }
  }

  void label(const ScatterPoint& point) {
    constexpr double kNear = 9, kFar = 150, kStep = 14, kHeightOfText = 13;
    const double px = x_.at(point.x), py = y_.at(point.y);
    const double width = text_width(point.name, kLabelFont);
    const auto fits = [&](const Area& area) {
      return area.left >= kLeft && area.right <= kWidth - 4 && area.top >= kTop - 8 &&
             area.bottom <= kHeight - kBottom &&
             std::ranges::none_of(taken_, [&](const Area& one) { return one.covers(area); });
    };
    for (double off = 0; off <= kFar; off += kStep) {
      // Right, left, and, further off, up and down to both sides.
      for (const auto& [side, up] :
           {std::pair(1.0, 0.0), std::pair(-1.0, 0.0), std::pair(1.0, -1.0), std::pair(-1.0, 1.0),
            std::pair(1.0, 1.0), std::pair(-1.0, -1.0)}) {
        const double middle = py + up * (off + (up == 0 ? 0 : kStep));
        const double begin = px + side * (kNear + (up == 0 ? off : off / 2));
        const double left = side > 0 ? begin : begin - width;
        const Area area{left, left + width, middle - kHeightOfText / 2, middle + kHeightOfText / 2};
        if (!fits(area)) continue;
        if (off > 0 || up != 0) line(px, py, begin, middle, Ink::frame);
        text(begin, middle + 4, side > 0 ? "start" : "end", kLabelFont, point.name);
        taken_.push_back(area);
        return;
      }
    }
  }

  const Scatter& scatter_;
  pugi::xml_node svg_;
  Axis x_, y_;
  std::vector<Area> taken_;  ///< by the front, points and names
};

}  // namespace

std::string to_svg(const Scatter& scatter) {
  pugi::xml_document document;
  ScatterWriter(scatter, document).write();
  std::ostringstream out;
  document.save(out, " ", pugi::format_indent | pugi::format_no_declaration);
  return out.str();
}

std::string to_html(const DesignPage& page) {
  return html_page(page.title,
                   fmt::format("{}<p>{}</p>\n{}", to_svg(page.scatter),
                               xml_escaped(on_one_line(page.legend)), html_table(page.table)));
}

}  // namespace forestcoll::cli
