#include "design/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <pugixml.hpp>
#include <sstream>

namespace forestcoll::cli {
namespace {

constexpr double kWidth = 900, kHeight = 520;
constexpr double kLeft = 70, kRight = 30, kTop = 50, kBottom = 60;
constexpr int kTicks = 5;

// 1, 2 or 5 times a power of ten, so that some five of them reach `most`.
double tick_step(double most) {
  const double rough = most / kTicks;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

class ScatterWriter {
 public:
  ScatterWriter(const Scatter& scatter, pugi::xml_node parent)
      : scatter_(scatter), svg_(parent.append_child("svg")) {
    for (const ScatterPoint& point : scatter.points) {
      most_x_ = std::max(most_x_, point.x);
      most_y_ = std::max(most_y_, point.y);
      least_y_ = std::min(least_y_, point.y);
    }
    // Times that are close to one another are not drawn from 0.
    if (least_y_ < most_y_ / 2) least_y_ = 0;
    if (most_y_ <= least_y_) most_y_ = least_y_ + 1;
  }

  void write() {
    set(svg_, "xmlns", "http://www.w3.org/2000/svg");
    set(svg_, "viewBox", fmt::format("0 0 {:.0f} {:.0f}", kWidth, kHeight));
    set(svg_, "font-family", "sans-serif");
    set(svg_, "font-size", "12");
    auto paper = svg_.append_child("rect");
    set(paper, "width", "100%");
    set(paper, "height", "100%");
    set(paper, "fill", "#ffffff");
    text(kLeft, 24, "start", scatter_.title);
    text((kLeft + kWidth - kRight) / 2, kHeight - 16, "middle", scatter_.x_title);
    text(kLeft, kTop - 10, "start", scatter_.y_title);
    axes();
    for (const ScatterPoint& point : scatter_.points) draw_point(point);
  }

 private:
  static void set(pugi::xml_node node, const char* name, const std::string& value) {
    node.append_attribute(name).set_value(value.c_str());
  }
  [[nodiscard]] double x(double value) const {
    return kLeft + value / most_x_ * (kWidth - kLeft - kRight - 120);
  }
  [[nodiscard]] double y(double value) const {
    return kHeight - kBottom -
           (value - least_y_) / (most_y_ - least_y_) * (kHeight - kTop - kBottom);
  }

  pugi::xml_node text(double at_x, double at_y, const char* anchor, const std::string& words) {
    auto node = svg_.append_child("text");
    set(node, "x", fmt::format("{:.1f}", at_x));
    set(node, "y", fmt::format("{:.1f}", at_y));
    set(node, "text-anchor", anchor);
    node.text().set(words.c_str());
    return node;
  }

  void line(double x1, double y1, double x2, double y2, const char* color) {
    auto node = svg_.append_child("line");
    set(node, "x1", fmt::format("{:.1f}", x1));
    set(node, "y1", fmt::format("{:.1f}", y1));
    set(node, "x2", fmt::format("{:.1f}", x2));
    set(node, "y2", fmt::format("{:.1f}", y2));
    set(node, "stroke", color);
  }

  void axes() {
    const double step_x = tick_step(most_x_);
    for (double value = 0; value <= most_x_ * (1 + 1e-9); value += step_x) {
      line(x(value), y(least_y_), x(value), y(least_y_) + 5, "#666666");
      text(x(value), y(least_y_) + 20, "middle", fmt::format("{:.6g}", value));
    }
    const double step_y = tick_step(most_y_ - least_y_);
    for (double value = std::ceil(least_y_ / step_y) * step_y; value <= most_y_ * (1 + 1e-9);
         value += step_y) {
      line(kLeft, y(value), kWidth - kRight, y(value), "#dddddd");
      text(kLeft - 8, y(value) + 4, "end", fmt::format("{:.6g}", value));
    }
    line(kLeft, y(least_y_), kWidth - kRight, y(least_y_), "#666666");
  }

  void draw_point(const ScatterPoint& point) {
    auto circle = svg_.append_child("circle");
    set(circle, "cx", fmt::format("{:.1f}", x(point.x)));
    set(circle, "cy", fmt::format("{:.1f}", y(point.y)));
    set(circle, "r", point.marked ? "5" : "3");
    set(circle, "fill", point.marked ? "#c2410c" : "#94a3b8");
    circle.append_child("title").text().set(point.name.c_str());
    if (point.marked) text(x(point.x) + 8, y(point.y) + 4, "start", point.name);
  }

  const Scatter& scatter_;
  pugi::xml_node svg_;
  double most_x_ = 1e-9, most_y_ = 0, least_y_ = 1e300;
};

constexpr const char* kStyle =
    "body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font-size:.85em}"
    "th,td{padding:.25em .7em;text-align:right;border-bottom:1px solid #dddddd}"
    "th:last-child,td:last-child{text-align:left}";

void add_row(pugi::xml_node table, const std::vector<std::string>& cells, const char* kind) {
  auto row = table.append_child("tr");
  for (const std::string& cell : cells) row.append_child(kind).text().set(cell.c_str());
}

}  // namespace

void draw(const Scatter& scatter, pugi::xml_node parent) {
  ScatterWriter(scatter, parent).write();
}

std::string to_svg(const Scatter& scatter) {
  pugi::xml_document document;
  draw(scatter, document);
  std::ostringstream out;
  document.save(out, " ", pugi::format_indent | pugi::format_no_declaration);
  return out.str();
}

std::string to_html(const DesignPage& page) {
  pugi::xml_document document;
  document.append_child(pugi::node_doctype).set_value("html");
  auto html = document.append_child("html");
  html.append_attribute("lang").set_value("en");
  auto head = html.append_child("head");
  head.append_child("meta").append_attribute("charset").set_value("utf-8");
  head.append_child("title").text().set(page.title.c_str());
  head.append_child("style").text().set(kStyle);
  auto body = html.append_child("body");
  body.append_child("h1").text().set(page.title.c_str());
  draw(page.scatter, body);
  body.append_child("p").text().set(page.legend.c_str());
  auto table = body.append_child("table");
  add_row(table, page.table.head, "th");
  for (const TableRow& row : page.table.rows) add_row(table, row, "td");
  std::ostringstream out;
  document.save(out, " ", pugi::format_indent | pugi::format_no_declaration);
  return out.str();
}

}  // namespace forestcoll::cli
