// From the items and edges of a picture to a sheet with everything in its place.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "topology/draw/grid.hpp"
#include "topology/draw/labels.hpp"
#include "topology/draw/limit_marks.hpp"
#include "topology/draw/link_style.hpp"
#include "topology/draw/picture.hpp"
#include "topology/draw/placement.hpp"

namespace forestcoll::topology {
namespace {

// With more on one circle, names would make it wider than a screen: dots.
constexpr std::size_t kMostNamesOnCircle = 96;

class PictureWriter {
 public:
  PictureWriter(const Picture& picture, const Topology& topology, const DrawOptions& options)
      : picture_(picture),
        topology_(topology),
        options_(options),
        style_(topology, options, widest(picture), picture.edges.size()) {}

  // Where labels find no place, once more with more room, and at last without them.
  Sheet make() {
    for (const double stretch : {1.0, 1.35, 1.8}) {
      Sheet sheet = arranged(stretch);
      if (place_labels(sheet) == 0 || stretch > 1.5) {
        if (options_.hops.empty()) sheet.note = LimitMarks(topology_).note();
        style_.set_head(sheet);
        return sheet;
      }
    }
    return {};
  }

 private:
  static Ratio widest(const Picture& picture) {
    Ratio most = 0;
    for (const Edge& edge : picture.edges) most = std::max({most, edge.there, edge.back});
    return most;
  }

  // Rows where switches join what is below them, circles where not.
  [[nodiscard]] Sheet arranged(double stretch) const {
    Sheet sheet;
    for (const Item& item : picture_.items) sheet.nodes.push_back(node_of(item));
    if (is_layered(picture_)) {
      Layers layers = place_in_layers(picture_, readable_width(options_.width), stretch);
      for (std::size_t i = 0; i < layers.items.size(); ++i) sheet.nodes[i].at = layers.items[i];
      sheet.frames = std::move(layers.frames);
    } else if (are_dots()) {
      place_dots(sheet);
    } else {
      const Circles circles = place_on_circles(picture_);
      for (std::size_t i = 0; i < circles.items.size(); ++i) {
        sheet.nodes[i].at = {circles.items[i].x * stretch, circles.items[i].y * stretch};
      }
      for (const Frame& frame : circles.frames) {
        sheet.frames.push_back({frame.box,
                                {frame.centre.x * stretch, frame.centre.y * stretch},
                                {2 * frame.radius * stretch, 2 * frame.radius * stretch},
                                true});
      }
    }
    for (const Edge& edge : picture_.edges) sheet.lines.push_back(line_of(edge, sheet));
    // What matters is drawn above what does not.
    std::ranges::stable_sort(sheet.lines, {}, [this](const SheetLine& line) {
      return options_.hops.empty() ? line.color.light == color_of(Ink::bottleneck).light
                                   : line.color.light != color_of(Ink::frame).light;
    });
    return sheet;
  }

  [[nodiscard]] bool are_dots() const {
    const bool boxes =
        std::ranges::any_of(picture_.items, [](const Item& item) { return !item.cluster.empty(); });
    return !boxes && picture_.items.size() > kMostNamesOnCircle;
  }

  void place_dots(Sheet& sheet) const {
    constexpr double kApart = 12, kLeast = 300, kMost = 700, kDot = 8;
    const auto count = static_cast<double>(sheet.nodes.size());
    const double radius = std::clamp(count * kApart / (2 * std::numbers::pi), kLeast, kMost);
    for (std::size_t i = 0; i < sheet.nodes.size(); ++i) {
      SheetNode& node = sheet.nodes[i];
      const double turn = 2 * std::numbers::pi * static_cast<double>(i) / count;
      node.at = {radius * std::sin(turn), radius * std::cos(turn)};
      node.lines.clear();
      node.size = {kDot, kDot};
      node.shape = Shape::dot;
    }
  }

  [[nodiscard]] SheetNode node_of(const Item& item) const {
    SheetNode node;
    node.lines = label_of(item);
    node.tip = fmt::format("{}", item.names.front());
    if (item.names.size() > 1) node.tip += fmt::format(" and {} more", item.names.size() - 1);
    node.size = size_of(item);
    node.shape = item.kind == ItemKind::box   ? Shape::box
                 : item.kind == ItemKind::gpu ? Shape::gpu
                 : item.is_nic                ? Shape::nic
                                              : Shape::switch_node;
    node.several = item.names.size() > 1;
    node.strong = item.is_root;
    return node;
  }

  [[nodiscard]] SheetLine line_of(const Edge& edge, const Sheet& sheet) const {
    // From the lower row to the upper one.
    const bool turned = picture_.items[edge.a].level > picture_.items[edge.b].level;
    const std::size_t from = turned ? edge.b : edge.a, to = turned ? edge.a : edge.b;
    const Ratio &there = turned ? edge.back : edge.there, &back = turned ? edge.there : edge.back;
    SheetLine line;
    line.points = along(from, to, sheet);
    line.color = edge.crosses ? color_of(Ink::bottleneck) : style_.color(edge.kind);
    line.width = std::max(style_.width(std::max(there, back)), edge.crosses ? 2.0 : 0.0);
    line.arrow_at_end = back == Ratio(0);
    line.arrow_at_begin = there == Ratio(0);
    line.tip = fmt::format("{} - {}, {} GB/s {}", sheet.nodes[from].tip, sheet.nodes[to].tip,
                           bandwidth_of(edge, from), edge.kind);
    if (has_label(edge)) line.label.lines = {label_of(edge, from)};
    if (!edge.limits.empty()) line.label.lines.push_back(letters_of(edge.limits));
    style_.mark(line, turned ? edge.round_back : edge.round_there,
                turned ? edge.round_there : edge.round_back);
    return line;
  }

  // Straight, or as an arc below a row in which others stand between.
  [[nodiscard]] std::vector<Spot> along(std::size_t from, std::size_t to,
                                        const Sheet& sheet) const {
    const SheetNode &a = sheet.nodes[from], &b = sheet.nodes[to];
    const double distance = std::abs(a.at.x - b.at.x);
    const double left = std::min(a.at.x, b.at.x), right = std::max(a.at.x, b.at.x);
    const bool beside = is_layered(picture_) && a.at.y == b.at.y &&
                        std::ranges::any_of(sheet.nodes, [&](const SheetNode& node) {
                          return node.at.y == a.at.y && node.at.x > left && node.at.x < right;
                        });
    if (!beside) return line_between(a, b);
    const double depth = depth_of_arc(distance) * 4 / 3;
    const Spot begin{a.at.x, a.at.y - a.size.height / 2}, end{b.at.x, b.at.y - b.size.height / 2};
    const double in = (end.x - begin.x) * 0.12;
    return {begin, {begin.x + in, begin.y - depth}, {end.x - in, end.y - depth}, end};
  }

  const Picture& picture_;
  const Topology& topology_;
  const DrawOptions& options_;
  LinkStyle style_;
};

}  // namespace

Sheet make_sheet(const Picture& picture, const Topology& topology, const DrawOptions& options) {
  return PictureWriter(picture, topology, options).make();
}

}  // namespace forestcoll::topology

namespace forestcoll {

Drawing draw(const Topology& topology, const DrawOptions& options) {
  const auto grid = topology::find_grid(topology);
  const topology::Sheet sheet =
      grid ? topology::draw_grid(*grid, topology, options)
           : topology::make_sheet(topology::make_picture(topology, options), topology, options);
  return {topology::to_svg(sheet), topology::to_dot(sheet), sheet.nodes.size()};
}

}  // namespace forestcoll
