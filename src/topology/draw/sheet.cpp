// Where labels stand, how wide texts get, and what stands above a picture.
#include "topology/draw/sheet.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace forestcoll::topology {
namespace {

struct Area {
  double left = 0, right = 0, bottom = 0, top = 0;

  [[nodiscard]] bool covers(const Area& other) const {
    return left < other.right && other.left < right && bottom < other.top && other.bottom < top;
  }
};

Area around(const Spot& at, const Size& size) {
  return {at.x - size.width / 2, at.x + size.width / 2, at.y - size.height / 2,
          at.y + size.height / 2};
}

Spot on_curve(const std::vector<Spot>& points, double t) {
  const double s = 1 - t;
  const std::array<double, 4> weights = {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
  Spot spot;
  for (std::size_t i = 0; i < 4; ++i) {
    spot.x += weights.at(i) * points[i].x;
    spot.y += weights.at(i) * points[i].y;
  }
  return spot;
}

// From the middle of a node to its border, in the direction of `to`.
Spot border(const SheetNode& node, const Spot& to, double gap) {
  const double dx = to.x - node.at.x, dy = to.y - node.at.y;
  const double length = std::hypot(dx, dy);
  if (length <= 0) return node.at;
  const double a = node.size.width / 2, b = node.size.height / 2;
  double part = 0;
  if (node.shape == Shape::switch_node || node.shape == Shape::dot) {
    part = 1 / std::hypot(dx / a, dy / b);
  } else {
    part = 1 / std::max(std::abs(dx) / a, std::abs(dy) / b);
  }
  part = std::min(part + gap / length, 0.5);
  return {node.at.x + part * dx, node.at.y + part * dy};
}

// Words in lines of at most `width`.
std::vector<std::string> wrapped(const std::string& text, double size, double width) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::string longer = line.empty() ? word : line + " " + word;
    if (!line.empty() && text_width(longer, size) > width) {
      lines.push_back(line);
      line = word;
    } else {
      line = longer;
    }
    at = end + 1;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace

Size area_of(const std::vector<std::string>& lines, double size) {
  Size area;
  for (const std::string& line : lines) area.width = std::max(area.width, text_width(line, size));
  area.height = static_cast<double>(lines.size()) * size * kLineHeight;
  return area;
}

std::vector<Spot> line_between(const SheetNode& from, const SheetNode& to, double gap) {
  const Spot begin = border(from, to.at, gap), end = border(to, from.at, gap);
  const auto between = [&](double t) {
    return Spot{begin.x + t * (end.x - begin.x), begin.y + t * (end.y - begin.y)};
  };
  return {begin, between(1.0 / 3), between(2.0 / 3), end};
}

std::size_t place_labels(Sheet& sheet) {
  constexpr std::array<double, 9> kPlaces = {0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.15, 0.85};
  std::vector<Area> taken;
  for (const SheetNode& node : sheet.nodes) taken.push_back(around(node.at, node.size));
  for (const SheetFrame& frame : sheet.frames) {
    const Size name = area_of({frame.name}, kFrameFont);
    const Spot at = frame.round ? Spot{frame.centre.x, frame.centre.y + frame.size.height / 2}
                                : Spot{frame.centre.x - frame.size.width / 2 + 8 + name.width / 2,
                                       frame.centre.y - frame.size.height / 2 + 12};
    taken.push_back(around(at, name));
  }
  std::size_t without = 0;
  for (SheetLine& line : sheet.lines) {
    if (line.label.lines.empty()) continue;
    const Size size = area_of(line.label.lines, kLabelFont);
    const auto place = std::ranges::find_if(kPlaces, [&](double t) {
      const Area area = around(on_curve(line.points, t), size);
      return std::ranges::none_of(taken, [&](const Area& other) { return other.covers(area); });
    });
    if (place == kPlaces.end()) {
      line.label.lines.clear();
      ++without;
      continue;
    }
    line.label.at = on_curve(line.points, *place);
    taken.push_back(around(line.label.at, size));
  }
  return without;
}

Head head_of(const Sheet& sheet, double width) {
  constexpr double kKeyLine = 26, kKeyGap = 22, kRow = 18;
  Head head;
  double y = 0;
  const auto add_text = [&](const std::string& text, char style, double size) {
    for (const std::string& line : wrapped(text, size, width)) {
      y += style == 't' ? kTitleFont * kLineHeight : kRow;
      head.lines.push_back({0, y, line, Head::kNoKey, style});
      head.size.width = std::max(head.size.width, text_width(line, size));
    }
  };
  add_text(sheet.name, 't', kTitleFont * 1.08);  // bold
  add_text(sheet.note, 'n', kFrameFont);
  double x = 0;
  for (std::size_t i = 0; i < sheet.keys.size(); ++i) {
    const double length = kKeyLine + text_width(sheet.keys[i].text, kFrameFont);
    if (i == 0 || (x > 0 && x + length > width)) {
      x = 0;
      y += kRow;
    }
    head.lines.push_back({x + kKeyLine, y, sheet.keys[i].text, i, 'k'});
    head.size.width = std::max(head.size.width, x + length);
    x += length + kKeyGap;
  }
  add_text(sheet.caption, 'c', kFrameFont);
  head.size.height = y + 12;
  return head;
}

std::pair<Spot, Spot> corners_of(const Sheet& sheet) {
  Spot low{1e9, 1e9}, high{-1e9, -1e9};
  const auto add = [&](const Area& area) {
    low = {std::min(low.x, area.left), std::min(low.y, area.bottom)};
    high = {std::max(high.x, area.right), std::max(high.y, area.top)};
  };
  for (const SheetNode& node : sheet.nodes) {
    add(around(node.at, {node.size.width + (node.several ? 8 : 2),
                         node.size.height + (node.several ? 8 : 2)}));
  }
  for (const SheetLine& line : sheet.lines) {
    for (const Spot& spot : line.points) add(around(spot, {2, 2}));
    if (!line.label.lines.empty()) {
      add(around(line.label.at, area_of(line.label.lines, kLabelFont)));
    }
  }
  for (const SheetFrame& frame : sheet.frames) {
    add(around(frame.centre, frame.size));
    const Size name = area_of({frame.name}, kFrameFont);
    if (frame.round) add(around({frame.centre.x, frame.centre.y + frame.size.height / 2}, name));
  }
  for (const SheetText& text : sheet.texts) add(around(text.at, area_of(text.lines, kLabelFont)));
  return {low, high};
}

}  // namespace forestcoll::topology
