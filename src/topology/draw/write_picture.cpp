#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>

#include "forestcoll/topology_text.hpp"
#include "topology/draw/picture.hpp"
#include "topology/quote_dot.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kLongestName = 40;
// To lead an edge around nodes, Graphviz looks at all of them: minutes for a torus of 512.
constexpr std::size_t kMostBentEdges = 100;
// Where there are more edges than this, they are thinner.
constexpr std::size_t kMostWideEdges = 200;

// Colours that stay apart in grey and for the colour-blind; red is the cut's.
constexpr std::array<const char*, 6> kColors = {"#2b6cb0", "#2f855a", "#805ad5",
                                                "#b7791f", "#4a5568", "#0987a0"};
constexpr const char* kCutColor = "#d7263d";
constexpr const char* kSendingFill = "#fde3c8";
constexpr const char* kPlainFill = "#ffffff";
constexpr const char* kSwitchFill = "#e8edf3";

std::string number(const Ratio& value) {
  return fmt::format("{:.6g}", value.to_double());
}

// "box[0-31]", or "n1, n5, … n97" where that is too long.
std::string joined(const std::vector<std::string>& names) {
  const auto lists = compress_ids(names);
  const std::string all = fmt::format("{}", fmt::join(lists, ", "));
  if (all.size() <= kLongestName) return all;
  return fmt::format("{}, … {}", names.front(), names.back());
}

std::string html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped.empty() ? "&#160;" : escaped;
}

class PictureWriter {
 public:
  PictureWriter(const Picture& picture, const Topology& topology, const DrawOptions& options)
      : picture_(picture), topology_(topology), options_(options) {
    for (const Edge& edge : picture.edges) {
      widest_ = std::max(widest_, std::max(edge.there, edge.back));
      kinds_.emplace(edge.kind, 0);
      labelled_ = labelled_ || has_label(edge);
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

  // Rows where switches join what is above them; a spring model where items of one row are linked
  // to each other across boxes, one that knows boxes if there are several.
  void choose_layout() {
    bool switches = false, flat = false;
    std::set<std::string_view> boxes;
    for (const Item& item : picture_.items) {
      switches = switches || item.kind == ItemKind::switch_node;
      boxes.insert(item.cluster);
    }
    for (const Edge& edge : picture_.edges) {
      const Item &a = picture_.items[edge.a], &b = picture_.items[edge.b];
      flat = flat || (a.level == b.level && (a.cluster != b.cluster || a.cluster.empty()));
    }
    layered_ = switches && !flat;
    if (layered_) {
      layout_ = "dot";
    } else if (boxes.size() > 1) {
      layout_ = "fdp";
    } else {
      layout_ = picture_.items.size() > 100 ? "sfdp" : "neato";
    }
  }

  void header() {
    print("graph {} {{\n", quote_dot(topology_.name));
    print("  layout={};\n", layout_);
    print("  graph [fontname=\"Helvetica\", fontsize=14, labelloc=b, label={}{}];\n", legend(),
          // A second look for crossings would turn the rows of a box round.
          layered_ ? fmt::format(", ranksep=0.9, nodesep={}, newrank=true, remincross=false",
                                 labelled_ ? 0.7 : 0.15)
                   : fmt::format(", K=0.7, overlap=false, sep=\"+8\", {}",
                                 picture_.edges.size() <= kMostBentEdges
                                     ? "splines=true"
                                     // Straight edges run below the nodes that they meet.
                                     : "splines=line, outputorder=edgesfirst"));
    print(
        "  node [fontname=\"Helvetica\", fontsize=11, shape=box, style=filled, "
        "fillcolor=\"{}\", margin=\"0.06,0.03\", height=0.3, width=0.3];\n",
        kPlainFill);
    print("  edge [fontname=\"Helvetica\", fontsize=9];\n");
  }

  // An HTML-like label: the kinds of links in their colours.
  [[nodiscard]] std::string legend() const {
    std::map<std::string, std::set<std::pair<Ratio, std::int64_t>>> bandwidths;
    for (const TopologyLink& link : topology_.links) {
      if (link.enabled) bandwidths[link.kind].emplace(link.bandwidth, link.count);
    }
    std::vector<std::string> kinds;
    for (const auto& [kind, values] : bandwidths) {
      const auto color = kinds_.find(kind);
      kinds.push_back(fmt::format("<font color=\"{}\">{}</font> {}",
                                  color == kinds_.end() ? "#000000" : kColors[color->second],
                                  kind.empty() ? "links" : html(kind), range(values)));
    }
    std::string text =
        fmt::format("<<b>{}</b><br/>{}", html(topology_.name), fmt::join(kinds, "&#160;&#160; "));
    if (!options_.caption.empty()) {
      text += fmt::format("<br/><font color=\"{}\">{}</font>", kCutColor, html(options_.caption));
    }
    return text + ">";
  }

  // "25 GB/s", "300 GB/s = 12 x 25", "16 to 50 GB/s".
  static std::string range(const std::set<std::pair<Ratio, std::int64_t>>& links) {
    const auto& [least, cables] = *links.begin();
    const Ratio& most = links.rbegin()->first;
    if (least != most) return fmt::format("{} to {} GB/s", number(least), number(most));
    const auto single = checked_div(least, Ratio(cables));
    if (links.size() > 1 || cables == 1 || !single) return number(least) + " GB/s";
    return fmt::format("{} GB/s = {} x {}", number(least), cables, number(*single));
  }

  // Items by cluster; the same level in one row.
  void clusters() {
    std::map<std::string, std::vector<std::size_t>> by_box;
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      by_box[picture_.items[i].cluster].push_back(i);
    }
    std::size_t number = 0;
    for (const auto& [box, items] : by_box) {
      if (box.empty()) continue;
      print(
          "  subgraph cluster_{} {{\n    label={}; color=\"#a0aec0\"; style=rounded; labelloc=t; "
          "labeljust=l;{}\n",
          number++, quote_dot(box), margin(box, items));
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

  // One row per level, and within a box, or outside of all, from left to right as the file has it.
  void rows() {
    std::map<std::size_t, std::vector<std::string>> levels;
    std::map<std::pair<std::size_t, std::string>, std::vector<std::string>> in_box;
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      const Item& item = picture_.items[i];
      levels[item.level].push_back(fmt::format("i{}", i));
      in_box[{item.level, item.cluster}].push_back(fmt::format("i{}", i));
    }
    for (const auto& [level, items] : levels) {
      print("  {{ rank=same; {}; }}\n", fmt::join(items, "; "));
    }
    for (const auto& [box, items] : in_box) {
      if (items.size() > 1) print("  {} [style=invis];\n", fmt::join(items, " -- "));
    }
  }

  // The id within its box, as the box stands around it.
  static std::string short_name(const Item& item) {
    const std::string& name = item.names.front();
    const bool inside = !item.cluster.empty() && name.starts_with(item.cluster + "/");
    return inside ? name.substr(item.cluster.size() + 1) : name;
  }

  static std::string label(const Item& item) {
    const std::size_t count = item.names.size(), each = count / item.sets;
    const std::string times = item.sets > 1 ? fmt::format("{} times ", item.sets) : "";
    if (item.kind == ItemKind::box) {
      const std::string gpus = fmt::format("{} GPU{}", item.gpus, item.gpus == 1 ? "" : "s");
      return count == 1 ? fmt::format("{}\\n{}", item.names.front(), gpus)
                        : fmt::format("{}{} box{} of {}\\n{}", times, each, each == 1 ? "" : "es",
                                      gpus, joined(item.names));
    }
    if (count == 1) return short_name(item);
    const std::string_view what = item.kind == ItemKind::gpu ? "GPUs" : "switches";
    return each == 1 ? fmt::format("{} {}\\n{}", count, what, joined(item.names))
                     : fmt::format("{}{} {}\\n{}", times, each, what, joined(item.names));
  }

  void write(const char* indent, std::size_t i) {
    const Item& item = picture_.items[i];
    const bool is_switch = item.kind == ItemKind::switch_node;
    std::string fill = item.side == Side::sends ? kSendingFill
                       : is_switch              ? kSwitchFill
                                                : kPlainFill;
    if (item.side == Side::divided) fill = fmt::format("{}:{}", kSendingFill, kPlainFill);
    print("{}i{} [label={}, fillcolor=\"{}\"{}{}{}];\n", indent, i, quote_dot(label(item)), fill,
          is_switch ? ", shape=ellipse" : "", item.names.size() > 1 ? ", peripheries=2" : "",
          item.kind == ItemKind::box ? ", style=\"filled,rounded\", fontsize=13" : "");
  }

  // The legend says the rest.
  static bool has_label(const Edge& edge) { return edge.links > 1 || edge.there != edge.back; }

  // Blanks keep it off a slanting line.
  [[nodiscard]] std::string beside(const Edge& edge, const std::string& bandwidth) const {
    const std::string text =
        edge.links > 1 ? fmt::format("{} links, {} GB/s", edge.links, bandwidth) : bandwidth;
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
    std::string label = number(wider);
    if (!one_way && there != back) label = fmt::format("{} / {}", number(there), number(back));
    print("  i{} -- i{} [color=\"{}\", penwidth={:.2f}, dir={}{}{}, tooltip={}];\n", from, to,
          color, edge.crosses ? std::max(2.0, width(wider)) : width(wider), direction,
          has_label(edge) ? fmt::format(", label={}", quote_dot(beside(edge, label))) : "",
          picture_.items[from].level == picture_.items[to].level && layered_ ? ", constraint=false"
                                                                             : "",
          quote_dot(fmt::format("{} GB/s {}", label, edge.kind)));
  }

  const Picture& picture_;
  const Topology& topology_;
  const DrawOptions& options_;
  bool layered_ = false;
  const char* layout_ = "dot";
  bool labelled_ = false;
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
