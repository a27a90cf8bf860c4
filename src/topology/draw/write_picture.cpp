#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "forestcoll/text.hpp"
#include "topology/draw/circles.hpp"
#include "topology/draw/labels.hpp"
#include "topology/draw/picture.hpp"
#include "topology/draw/rows.hpp"
#include "topology/format/quote_dot.hpp"

namespace forestcoll::topology {
namespace {

constexpr double kPoints = 72;  // in an inch
// To lead an edge around nodes, Graphviz looks at all of them: minutes for a torus of 512.
constexpr std::size_t kMostBentEdges = 100;
// Where there are more edges than this, they are thinner.
constexpr std::size_t kMostWideEdges = 200;

// Colours that stay apart in grey and for the colour-blind; red is the cut's.
constexpr std::array<const char*, 6> kColors = {"#2b6cb0", "#2f855a", "#805ad5",
                                                "#b7791f", "#4a5568", "#0987a0"};
constexpr const char* kCutColor = "#d7263d";
constexpr const char* kBetweenKinds = "&#160;&#160;&#160;&#160;&#160;&#160;&#160;&#160;";
constexpr const char* kSendingFill = "#fde3c8";
constexpr const char* kPlainFill = "#ffffff";
constexpr const char* kSwitchFill = "#e8edf3";

std::string html(std::string_view text) {
  return text.empty() ? "&#160;" : xml_escaped(text);
}

class PictureWriter {
 public:
  PictureWriter(const Picture& picture, const Topology& topology, const DrawOptions& options)
      : picture_(picture), topology_(topology), options_(options) {
    for (const Edge& edge : picture.edges) {
      widest_ = std::max(widest_, std::max(edge.there, edge.back));
      kinds_.emplace(edge.kind, 0);
    }
    std::size_t next = 0;
    for (auto& [kind, color] : kinds_) color = next++ % kColors.size();
  }

  std::string write() {
    choose_layout();
    header();
    clusters();
    for (const Edge& edge : picture_.edges) write(edge);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  template <class... T>
  void print(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
  }

  // Rows where switches join what is above them; circles where links lead from box to box; a spring
  // model where there are no boxes, or one.
  void choose_layout() {
    std::set<std::string_view> boxes;
    for (const Item& item : picture_.items) boxes.insert(item.cluster);
    layered_ = is_layered(picture_);
    if (layered_) {
      layout_ = "dot";
      broken_ = broken_rows(picture_, readable_points(options_.width));
    } else if (boxes.size() > 1) {
      layout_ = "neato";
      circles_ = place_on_circles(picture_);
    } else {
      layout_ = picture_.items.size() > 100 ? "sfdp" : "neato";
    }
  }

  void header() {
    print("graph {} {{\n", quote_dot(topology_.name));
    print("  layout={};\n", layout_);
    print("  graph [fontname=\"Helvetica\", fontsize=14, labelloc=b, label={}, {}];\n", legend(),
          layout_options());
    print(
        "  node [fontname=\"Helvetica\", fontsize=11, shape=box, style=filled, "
        "fillcolor=\"{}\", margin=\"0.06,0.03\", height=0.3, width=0.3];\n",
        kPlainFill);
    print("  edge [fontname=\"Helvetica\", fontsize=9];\n");
  }

  [[nodiscard]] std::string layout_options() const {
    // Straight edges run below the nodes that they meet.
    const char* straight = "splines=line, outputorder=edgesfirst";
    if (layered_) {
      constexpr double kPixelsInInch = 96, kAnyHeight = 1000;
      // A second look for crossings would turn the rows of a box round.
      return fmt::format(
          "ranksep=0.9, nodesep={:.6g}, newrank=true, remincross=false, size=\"{:.6g},{}\"",
          gap_of(picture_) / kPoints, static_cast<double>(options_.width) / kPixelsInInch,
          kAnyHeight);
    }
    if (circles_) return straight;
    return fmt::format("K=0.7, overlap=false, sep=\"+8\", {}",
                       picture_.edges.size() <= kMostBentEdges ? "splines=true" : straight);
  }

  // An HTML-like label: the kinds of links in their colours. A change of colour ends a text, and
  // the next one stands where Graphviz reckons its end: renderers with a wider font need room
  // there.
  [[nodiscard]] std::string legend() const {
    std::map<std::string, std::set<std::pair<Ratio, std::int64_t>>> bandwidths;
    for (const TopologyLink& link : topology_.links) {
      if (link.enabled) bandwidths[link.kind].emplace(link.bandwidth, link.count);
    }
    std::vector<std::string> kinds;
    for (const auto& [kind, values] : bandwidths) {
      const auto color = kinds_.find(kind);
      kinds.push_back(fmt::format("<font color=\"{}\">{} {}</font>",
                                  color == kinds_.end() ? "#000000" : kColors[color->second],
                                  kind.empty() ? "links" : html(kind), range(values)));
    }
    std::string text =
        fmt::format("<<b>{}</b><br/>{}", html(topology_.name), fmt::join(kinds, kBetweenKinds));
    if (!options_.caption.empty()) {
      text += fmt::format("<br/><font color=\"{}\">{}</font>", kCutColor, html(options_.caption));
    }
    return text + ">";
  }

  // "25 GB/s", "300 GB/s = 12 x 25", "16 to 50 GB/s".
  static std::string range(const std::set<std::pair<Ratio, std::int64_t>>& links) {
    const auto& [least, cables] = *links.begin();
    const Ratio& most = links.rbegin()->first;
    if (least != most) return fmt::format("{} to {} GB/s", short_number(least), short_number(most));
    const auto single = checked_div(least, Ratio(cables));
    if (links.size() > 1 || cables == 1 || !single) return short_number(least) + " GB/s";
    return fmt::format("{} GB/s = {} x {}", short_number(least), cables, short_number(*single));
  }

  // Items by cluster; the same level in one row.
  void clusters() {
    std::map<std::string, std::vector<std::size_t>> by_box;
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      by_box[picture_.items[i].cluster].push_back(i);
    }
    if (circles_) return write_circles();
    std::size_t number = 0;
    for (const auto& [box, items] : by_box) {
      if (box.empty()) continue;
      print(
          "  subgraph cluster_{} {{\n    label={}; color=\"#a0aec0\"; style=rounded; labelloc=t; "
          "labeljust=l;{}\n",
          number++, quote_dot_label(box), margin(box, items));
      for (const std::size_t i : items) write("    ", i);
      out_ += "  }\n";
    }
    for (const std::size_t i : by_box[""]) write("  ", i);
    if (layered_) rows();
  }

  // Links along the uppermost row run above it as arcs: the box's name needs a place beside them.
  [[nodiscard]] std::string margin(const std::string& box,
                                   const std::vector<std::size_t>& items) const {
    std::size_t top = picture_.items[items.front()].level;
    for (const std::size_t i : items) top = std::min(top, picture_.items[i].level);
    const bool arcs = std::ranges::any_of(picture_.edges, [&](const Edge& edge) {
      const Item &a = picture_.items[edge.a], &b = picture_.items[edge.b];
      return a.cluster == box && b.cluster == box && a.level == top && b.level == top;
    });
    return layered_ && arcs
               ? fmt::format(" margin={};", std::min<std::size_t>(8 + 6 * box.size(), 80))
               : "";
  }

  // One row per level, or several where it is broken, and within a box, or outside of all, from
  // left to right as the file has it.
  void rows() {
    using Row = std::pair<std::size_t, std::size_t>;
    std::map<Row, std::vector<std::string>> rows;
    std::map<std::pair<Row, std::string>, std::vector<std::string>> in_box;
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      const Item& item = picture_.items[i];
      const Row row(item.level, broken_[i]);
      rows[row].push_back(fmt::format("i{}", i));
      in_box[{row, item.cluster}].push_back(fmt::format("i{}", i));
    }
    const std::string* above = nullptr;
    for (const auto& [row, items] : rows) {
      print("  {{ rank=same; {}; }}\n", fmt::join(items, "; "));
      // Nothing else keeps the rows of one level apart.
      if (row.second > 0) print("  {} -- {} [style=invis];\n", *above, items.front());
      above = &items.front();
    }
    for (const auto& [row, items] : in_box) {
      if (items.size() > 1) print("  {} [style=invis];\n", fmt::join(items, " -- "));
    }
  }

  // Every node where it is to be, frames of boxes below, and their names above what they frame.
  void write_circles() {
    for (const Frame& frame : circles_->frames) {
      print(
          "  {} [label=\"\", pos=\"{}!\", shape=circle, style=solid, color=\"#a0aec0\", "
          "fixedsize=true, width={:.3f}];\n",
          quote_dot("frame " + frame.box), position(frame.centre), 2 * frame.radius / kPoints);
    }
    for (std::size_t i = 0; i < picture_.items.size(); ++i) write("  ", i);
    for (const Frame& frame : circles_->frames) {
      const Spot top = {frame.centre.x, frame.centre.y + frame.radius};
      print("  {} [label={}, pos=\"{}!\", shape=plaintext, fontsize=14];\n",
            quote_dot("name " + frame.box), quote_dot_label(frame.box), position(top));
    }
  }

  static std::string position(const Spot& spot) {
    return fmt::format("{:.3f},{:.3f}", spot.x / kPoints, spot.y / kPoints);
  }

  void write(const char* indent, std::size_t i) {
    const Item& item = picture_.items[i];
    const bool is_switch = item.kind == ItemKind::switch_node;
    std::string fill = item.side == Side::sends ? kSendingFill
                       : is_switch              ? kSwitchFill
                                                : kPlainFill;
    if (item.side == Side::divided) fill = fmt::format("{}:{}", kSendingFill, kPlainFill);
    print("{}i{} [label={}, fillcolor=\"{}\"{}{}{}{}];\n", indent, i,
          quote_dot_label(label_of(item)), fill, is_switch ? ", shape=ellipse" : "",
          item.names.size() > 1 ? ", peripheries=2" : "",
          item.kind == ItemKind::box ? ", style=\"filled,rounded\", fontsize=13" : "",
          circles_ ? fmt::format(", pos=\"{}!\"", position(circles_->items[i])) : "");
  }

  // Blanks keep it off a slanting line.
  [[nodiscard]] std::string beside(const std::string& text) const {
    return layered_ ? "    " + text + "    " : text;
  }

  [[nodiscard]] double width(const Ratio& bandwidth) const {
    const double crowd = std::max(
        1.0, static_cast<double>(picture_.edges.size()) / static_cast<double>(kMostWideEdges));
    return 0.5 + 3.5 / std::sqrt(crowd) * std::sqrt(bandwidth.to_double() / widest_.to_double());
  }

  void write(const Edge& edge) {
    // From the upper row to the lower.
    const bool turned = picture_.items[edge.a].level > picture_.items[edge.b].level;
    const std::size_t from = turned ? edge.b : edge.a, to = turned ? edge.a : edge.b;
    const Ratio &there = turned ? edge.back : edge.there, &back = turned ? edge.there : edge.back;
    const char* color = edge.crosses ? kCutColor : kColors[kinds_.at(edge.kind)];
    const bool one_way = there == Ratio(0) || back == Ratio(0);
    const char* direction = !one_way ? "none" : there == Ratio(0) ? "back" : "forward";
    const Ratio& wider = std::max(there, back);
    print("  i{} -- i{} [color=\"{}\", penwidth={:.2f}, dir={}{}{}, tooltip={}];\n", from, to,
          color, edge.crosses ? std::max(2.0, width(wider)) : width(wider), direction,
          has_label(edge) ? fmt::format(", label={}", quote_dot_label(beside(label_of(edge, from))))
                          : "",
          picture_.items[from].level == picture_.items[to].level && layered_ ? ", constraint=false"
                                                                             : "",
          quote_dot_label(fmt::format("{} GB/s {}", bandwidth_of(edge, from), edge.kind)));
  }

  const Picture& picture_;
  const Topology& topology_;
  const DrawOptions& options_;
  bool layered_ = false;
  const char* layout_ = "dot";
  std::vector<std::size_t> broken_;  ///< of a layered picture: the row within the level, by item
  std::optional<Circles> circles_;
  Ratio widest_ = 0;
  std::map<std::string, std::size_t> kinds_;  ///< by kind: its colour
  std::string out_;
};

}  // namespace

std::string write_picture(const Picture& picture, const Topology& topology,
                          const DrawOptions& options) {
  return PictureWriter(picture, topology, options).write();
}

}  // namespace forestcoll::topology

namespace forestcoll {

Drawing draw(const Topology& topology, const DrawOptions& options) {
  const auto picture = topology::make_picture(topology, options);
  return {topology::write_picture(picture, topology, options), picture.items.size()};
}

}  // namespace forestcoll
