// A sheet as SVG. Colours are attributes, which a style sheet turns into dark ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "forestcoll/text.hpp"
#include "topology/draw/sheet.hpp"

namespace forestcoll::topology {
namespace {

constexpr double kPaperMargin = 16;

std::string_view ink(Ink what) {
  return color_of(what).light;
}

std::string_view class_of(Shape shape) {
  switch (shape) {
    case Shape::gpu:
      return "gpu";
    case Shape::nic:
      return "nic";
    case Shape::switch_node:
      return "switch";
    case Shape::box:
      return "box";
    case Shape::dot:
      break;
  }
  return "gpu dot";
}

std::string_view fill_of(const SheetNode& node) {
  if (node.broken) return ink(Ink::paper);
  switch (node.shape) {
    case Shape::nic:
      return ink(Ink::nic);
    case Shape::switch_node:
      return ink(Ink::switch_node);
    case Shape::box:
      return ink(Ink::box);
    default:
      return ink(Ink::gpu);
  }
}

class SvgWriter {
 public:
  explicit SvgWriter(const Sheet& sheet) : sheet_(sheet) {
    const auto [low, high] = corners_of(sheet);
    constexpr double kLeast = 440, kMostForText = 680;
    const double text = text_width(sheet.caption, kFrameFont);
    const double inner = std::max({high.x - low.x, kLeast, std::min(text, kMostForText)});
    head_ = head_of(sheet, inner);
    width_ = std::max(inner, head_.size.width) + 2 * kPaperMargin;
    height_ = head_.size.height + (high.y - low.y) + 2 * kPaperMargin;
    move_x_ = (width_ - (high.x - low.x)) / 2 - low.x;
    move_y_ = kPaperMargin + head_.size.height + high.y;
  }

  std::string write() {
    const double shown =
        sheet_.most_width > 0 && width_ > sheet_.most_width ? sheet_.most_width / width_ : 1;
    print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
        "viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\" font-family=\"Helvetica, "
        "Arial, 'DejaVu Sans', sans-serif\">\n",
        width_ * shown, height_ * shown, width_, height_, xml_escaped(sheet_.name));
    print("<title>{}</title>\n<style>\n{}</style>\n", xml_escaped(sheet_.name), dark_style());
    print("<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n", ink(Ink::paper));
    write_head();
    for (const SheetFrame& frame : sheet_.frames) write(frame);
    for (const SheetLine& line : sheet_.lines) write(line);
    for (const SheetNode& node : sheet_.nodes) write(node);
    for (const SheetLine& line : sheet_.lines) write_label(line);
    for (const SheetText& text : sheet_.texts) {
      write_lines("axis", text.lines, text.at, kLabelFont, ink(Ink::faint));
    }
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  template <class... T>
  void print(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
  }
  [[nodiscard]] double x(const Spot& spot) const { return spot.x + move_x_; }
  [[nodiscard]] double y(const Spot& spot) const { return move_y_ - spot.y; }

  void write_head() {
    for (const Head::Line& line : head_.lines) {
      const double left = kPaperMargin + line.x, base = kPaperMargin + line.y;
      const bool title = line.style == 't', caption = line.style == 'c';
      if (line.key != Head::kNoKey) {
        print(
            "<line class=\"key\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" "
            "stroke=\"{}\" stroke-width=\"3\"/>\n",
            left - 26, left - 6, base - 4, base - 4, sheet_.keys[line.key].color.light);
      }
      print(
          "<text class=\"head\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" "
          "fill=\"{}\"{}>{}</text>\n",
          left, base, title ? kTitleFont : kFrameFont,
          caption ? ink(Ink::bottleneck) : ink(Ink::text), title ? " font-weight=\"bold\"" : "",
          xml_escaped(line.text));
    }
  }

  // Lines of text around a spot.
  void write_lines(std::string_view classes, const std::vector<std::string>& lines, const Spot& at,
                   double size, std::string_view fill) {
    const double step = size * kLineHeight;
    double base = y(at) - step * (static_cast<double>(lines.size()) - 1) / 2 + size * 0.35;
    for (const std::string& line : lines) {
      print(
          "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"{}\" "
          "fill=\"{}\">{}</text>\n",
          classes, x(at), base, size, fill, xml_escaped(line));
      base += step;
    }
  }

  void write(const SheetFrame& frame) {
    const double left = x(frame.centre) - frame.size.width / 2,
                 top = y(frame.centre) - frame.size.height / 2;
    print(
        "<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"{:.1f}\" fill=\"none\" stroke=\"{}\"/>\n",
        left, top, frame.size.width, frame.size.height, frame.round ? frame.size.width / 2 : 8,
        ink(Ink::frame));
    if (frame.round) {
      write_lines("name", {frame.name}, {frame.centre.x, frame.centre.y + frame.size.height / 2},
                  kFrameFont, ink(Ink::text));
      return;
    }
    print("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\">{}</text>\n",
          left + 8, top + frame.size.height - 8, kFrameFont, ink(Ink::text),
          xml_escaped(frame.name));
  }

  void write(const SheetLine& line) {
    const auto& p = line.points;
    print("<g class=\"{}\"><title>{}</title><path d=\"M{:.1f} {:.1f}",
          line.dashed ? "link broken" : "link", xml_escaped(line.tip), x(p[0]), y(p[0]));
    const bool straight = p.size() == 4 && is_straight(p);
    for (std::size_t i = straight ? 3 : 1; i < p.size(); ++i) {
      print("{}{:.1f} {:.1f}", straight ? "L" : i % 3 == 1 ? "C" : " ", x(p[i]), y(p[i]));
    }
    print("\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}/>", line.color.light,
          line.width, line.dashed ? " stroke-dasharray=\"4 4\"" : "");
    if (line.arrow_at_end) arrow(p[p.size() - 2], p.back(), line);
    if (line.arrow_at_begin) arrow(p[1], p[0], line);
    out_ += "</g>\n";
  }

  static bool is_straight(const std::vector<Spot>& p) {
    const double cross =
        (p[3].x - p[0].x) * (p[1].y - p[0].y) - (p[3].y - p[0].y) * (p[1].x - p[0].x);
    const double other =
        (p[3].x - p[0].x) * (p[2].y - p[0].y) - (p[3].y - p[0].y) * (p[2].x - p[0].x);
    return std::abs(cross) + std::abs(other) < 1;
  }

  // A tip at `to`, as seen from `from`.
  void arrow(const Spot& from, const Spot& to, const SheetLine& line) {
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length <= 0) return;
    const double dx = (to.x - from.x) / length, dy = (to.y - from.y) / length;
    const double size = 5 + 1.6 * line.width;
    const Spot left{to.x - size * dx + size * 0.45 * dy, to.y - size * dy - size * 0.45 * dx};
    const Spot right{to.x - size * dx - size * 0.45 * dy, to.y - size * dy + size * 0.45 * dx};
    print("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\" fill=\"{}\"/>", x(to), y(to),
          x(left), y(left), x(right), y(right), line.color.light);
  }

  void write(const SheetNode& node) {
    print("<g class=\"node {}{}\"><title>{}</title>", class_of(node.shape),
          node.broken ? " broken" : "", xml_escaped(node.tip));
    if (node.several) outline(node, 4, "none");
    outline(node, 0, fill_of(node));
    out_ += "\n";
    if (!node.lines.empty()) {
      write_lines("label", node.lines, node.at, node.shape == Shape::box ? kBoxFont : kNodeFont,
                  node.broken ? ink(Ink::broken) : ink(Ink::text));
    }
    out_ += "</g>\n";
  }

  void outline(const SheetNode& node, double beyond, std::string_view fill) {
    const double half_width = node.size.width / 2 + beyond,
                 half_height = node.size.height / 2 + beyond;
    const std::string_view stroke = ink(node.broken ? Ink::broken : Ink::outline);
    const std::string look = fmt::format("fill=\"{}\" stroke=\"{}\"{}{}", fill, stroke,
                                         node.strong ? " stroke-width=\"3\"" : "",
                                         node.broken ? " stroke-dasharray=\"3 3\"" : "");
    if (node.shape == Shape::switch_node || node.shape == Shape::dot) {
      print("<ellipse cx=\"{:.1f}\" cy=\"{:.1f}\" rx=\"{:.1f}\" ry=\"{:.1f}\" {}/>", x(node.at),
            y(node.at), half_width, half_height, look);
      return;
    }
    const double corner = node.shape == Shape::nic ? half_height : node.shape == Shape::box ? 7 : 2;
    print("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\" {}/>",
          x(node.at) - half_width, y(node.at) - half_height, 2 * half_width, 2 * half_height,
          corner, look);
  }

  // On a patch of paper, so that it can be read above lines.
  void write_label(const SheetLine& line) {
    if (line.label.lines.empty()) return;
    const Size size = area_of(line.label.lines, kLabelFont);
    print(
        "<rect class=\"patch\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "fill=\"{}\" fill-opacity=\"0.85\"/>\n",
        x(line.label.at) - size.width / 2, y(line.label.at) - size.height / 2, size.width,
        size.height, ink(Ink::paper));
    write_lines("bandwidth", line.label.lines, line.label.at, kLabelFont, ink(Ink::text));
  }

  const Sheet& sheet_;
  Head head_;
  double width_ = 0, height_ = 0, move_x_ = 0, move_y_ = 0;
  std::string out_;
};

}  // namespace

std::string to_svg(const Sheet& sheet) {
  return SvgWriter(sheet).write();
}

}  // namespace forestcoll::topology
