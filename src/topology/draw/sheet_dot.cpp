// A sheet in Graphviz's language: its layout nop2 takes nodes and lines as they are placed here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "forestcoll/text.hpp"
#include "topology/draw/sheet.hpp"
#include "topology/format/quote_dot.hpp"

namespace forestcoll::topology {
namespace {

constexpr double kPoints = 72;  // in an inch; a pixel is drawn as a point

std::string dot_html(const std::string& text) {
  return text.empty() ? "&#160;" : xml_escaped(text);
}

class DotWriter {
 public:
  explicit DotWriter(const Sheet& sheet) : sheet_(sheet) {}

  std::string write() {
    print("graph {} {{\n  layout=nop2;\n", quote_dot(sheet_.name));
    print(
        "  graph [fontname=\"Helvetica\", fontsize={}, fontcolor=\"{}\", labelloc=t, labeljust=l, "
        "outputorder=edgesfirst, label={}{}];\n",
        kFrameFont, color_of(Ink::text).light, head(), size());
    print(
        "  node [fontname=\"Helvetica\", fontsize={}, fontcolor=\"{}\", shape=box, style=filled, "
        "fixedsize=true, margin=0, color=\"{}\"];\n",
        kNodeFont, color_of(Ink::text).light, color_of(Ink::outline).light);
    print("  edge [fontname=\"Helvetica\", fontsize={}, fontcolor=\"{}\"];\n", kLabelFont,
          color_of(Ink::text).light);
    for (std::size_t i = 0; i < sheet_.frames.size(); ++i) write(i, sheet_.frames[i]);
    for (std::size_t i = 0; i < sheet_.nodes.size(); ++i) write(i, sheet_.nodes[i]);
    for (std::size_t i = 0; i < sheet_.texts.size(); ++i) {
      write_text(fmt::format("t{}", i), sheet_.texts[i].lines, sheet_.texts[i].at, kLabelFont);
    }
    // The ends of a line have no meaning where its way is given; they are points of their own.
    print("  node [shape=point, width=0.01, height=0.01, style=invis, label=\"\"];\n");
    for (std::size_t i = 0; i < sheet_.lines.size(); ++i) write(i, sheet_.lines[i]);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  template <class... T>
  void print(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
  }

  [[nodiscard]] std::string head() const {
    std::string text = fmt::format("<<font point-size=\"{}\"><b>{}</b></font><br align=\"left\"/>",
                                   kTitleFont, dot_html(sheet_.name));
    if (!sheet_.note.empty()) text += dot_html(sheet_.note) + "<br align=\"left\"/>";
    std::vector<std::string> keys;
    for (const SheetKey& key : sheet_.keys) {
      keys.push_back(
          fmt::format("<font color=\"{}\">{}</font>", key.color.light, dot_html(key.text)));
    }
    if (!keys.empty()) {
      text += fmt::format("{}<br align=\"left\"/>", fmt::join(keys, "&#160;&#160;&#160;&#160;"));
    }
    if (!sheet_.caption.empty()) {
      text += fmt::format("<font color=\"{}\">{}</font><br align=\"left\"/>",
                          color_of(Ink::bottleneck).light, dot_html(sheet_.caption));
    }
    return text + ">";
  }

  [[nodiscard]] std::string size() const {
    constexpr double kPixelsInInch = 96, kAnyHeight = 1000;
    if (sheet_.most_width <= 0) return "";
    return fmt::format(", size=\"{:.6g},{}\"", sheet_.most_width / kPixelsInInch, kAnyHeight);
  }

  void write(std::size_t i, const SheetFrame& frame) {
    print(
        "  f{} [label=\"\", pos=\"{:.1f},{:.1f}\", width={:.3f}, height={:.3f}, shape={}, "
        "style={}, color=\"{}\"];\n",
        i, frame.centre.x, frame.centre.y, frame.size.width / kPoints, frame.size.height / kPoints,
        frame.round ? "ellipse" : "box", frame.round ? "solid" : "rounded",
        color_of(Ink::frame).light);
    if (frame.round) return;
    const double width = area_of({frame.name}, kFrameFont).width;
    write_text(fmt::format("g{}", i), {frame.name},
               {frame.centre.x - frame.size.width / 2 + 8 + width / 2,
                frame.centre.y - frame.size.height / 2 + 12},
               kFrameFont);
  }

  void write_text(const std::string& id, const std::vector<std::string>& lines, const Spot& at,
                  double size) {
    const Size area = area_of(lines, size);
    print(
        "  {} [label={}, pos=\"{:.1f},{:.1f}\", width={:.3f}, height={:.3f}, shape=plaintext, "
        "style=solid, fontsize={}];\n",
        id, quote_dot_label(lines), at.x, at.y, area.width / kPoints, area.height / kPoints, size);
  }

  void write(std::size_t i, const SheetNode& node) {
    const char* shape = node.shape == Shape::switch_node ? "ellipse"
                        : node.shape == Shape::dot       ? "circle"
                                                         : "box";
    const Ink fill = node.broken                        ? Ink::paper
                     : node.shape == Shape::nic         ? Ink::nic
                     : node.shape == Shape::switch_node ? Ink::switch_node
                     : node.shape == Shape::box         ? Ink::box
                                                        : Ink::gpu;
    const bool round = node.shape == Shape::nic || node.shape == Shape::box;
    print(
        "  i{} [label={}, tooltip={}, pos=\"{:.1f},{:.1f}\", width={:.3f}, height={:.3f}, "
        "shape={}, fillcolor=\"{}\"{}{}{}{}];\n",
        i, quote_dot_label(node.lines), quote_dot_label(node.tip), node.at.x, node.at.y,
        node.size.width / kPoints, node.size.height / kPoints, shape, color_of(fill).light,
        node.several ? ", peripheries=2" : "",
        node.broken ? ", style=\"filled,dashed\""
        : round     ? ", style=\"filled,rounded\""
                    : "",
        node.shape == Shape::box ? fmt::format(", fontsize={}", kBoxFont) : "",
        node.strong ? ", penwidth=3" : "");
  }

  void write(std::size_t i, const SheetLine& line) {
    std::vector<Spot> points = line.points;
    std::string tips;
    if (line.arrow_at_begin) tips += tip("s", points.front(), points[1]);
    if (line.arrow_at_end) tips += tip("e", points.back(), points[points.size() - 2]);
    std::vector<std::string> places;
    for (const Spot& spot : points) places.push_back(fmt::format("{:.1f},{:.1f}", spot.x, spot.y));
    const char* direction = line.arrow_at_begin && line.arrow_at_end ? "both"
                            : line.arrow_at_begin                    ? "back"
                            : line.arrow_at_end                      ? "forward"
                                                                     : "none";
    const Spot &begin = line.points.front(), &end = line.points.back();
    print("  a{0} [pos=\"{1:.1f},{2:.1f}\"]; b{0} [pos=\"{3:.1f},{4:.1f}\"];\n", i, begin.x,
          begin.y, end.x, end.y);
    print(
        "  a{0} -- b{0} [pos=\"{1}{2}\", color=\"{3}\", penwidth={4:.2f}, dir={5}, "
        "tooltip={6}{7}{8}];\n",
        i, tips, fmt::join(places, " "), line.color.light, line.width, direction,
        quote_dot_label(line.tip), line.dashed ? ", style=dashed" : "", label_of(line));
  }

  static std::string label_of(const SheetLine& line) {
    if (line.label.lines.empty()) return "";
    return fmt::format(", label={}, lp=\"{:.1f},{:.1f}\"", quote_dot_label(line.label.lines),
                       line.label.at.x, line.label.at.y);
  }

  // Where an arrow ends; the line ends at its root, `end` from now on.
  static std::string tip(const char* which, Spot& end, const Spot& before) {
    constexpr double kArrow = 8;
    const double length = std::hypot(end.x - before.x, end.y - before.y);
    std::string text = fmt::format("{},{:.1f},{:.1f} ", which, end.x, end.y);
    if (length > kArrow) {
      end.x -= kArrow * (end.x - before.x) / length;
      end.y -= kArrow * (end.y - before.y) / length;
    }
    return text;
  }

  const Sheet& sheet_;
  std::string out_;
};

}  // namespace

std::string to_dot(const Sheet& sheet) {
  return DotWriter(sheet).write();
}

}  // namespace forestcoll::topology
