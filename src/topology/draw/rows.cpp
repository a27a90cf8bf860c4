#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "topology/draw/labels.hpp"
#include "topology/draw/placement.hpp"

namespace forestcoll::topology {
namespace {

constexpr double kLeastSize = 24, kMargin = 14, kHeightMargin = 10;
constexpr double kEllipseMargin = 26, kEllipseHeightMargin = 14;
constexpr double kClusterMargin = 50;
constexpr double kRowGap = 12, kGapBesideLabels = 34;

using Widths = std::map<std::size_t, double>;  // by level

double widest(const Widths& rows) {
  double width = 0;
  for (const auto& [level, row] : rows) width = std::max(width, row);
  return width;
}

// By box, the rows of what is in it; "" is what is in none.
std::map<std::string, Widths> blocks_of(const Picture& picture) {
  const double gap = gap_of(picture);
  std::map<std::string, Widths> blocks;
  for (const Item& item : picture.items) {
    blocks[item.cluster][item.level] += size_of(item).width + gap;
  }
  return blocks;
}

// Whether no other item of their row stands between the ends of a link, both in no box.
bool are_neighbours(const Picture& picture, const Edge& edge) {
  const std::size_t first = std::min(edge.a, edge.b), last = std::max(edge.a, edge.b);
  const auto from = picture.items.begin();
  return std::none_of(from + static_cast<std::ptrdiff_t>(first) + 1,
                      from + static_cast<std::ptrdiff_t>(last), [&](const Item& item) {
                        return item.cluster.empty() && item.level == picture.items[first].level;
                      });
}

}  // namespace

Size size_of(const Item& item) {
  const Size text = area_of(label_of(item), item.kind == ItemKind::box ? kBoxFont : kNodeFont);
  const bool ellipse = item.kind == ItemKind::switch_node && !item.is_nic;
  return {std::max(kLeastSize, text.width + (ellipse ? kEllipseMargin : kMargin)),
          std::max(kLeastSize, text.height + (ellipse ? kEllipseHeightMargin : kHeightMargin))};
}

bool is_layered(const Picture& picture) {
  const bool switches = std::ranges::count(picture.items, ItemKind::switch_node, &Item::kind) > 0;
  return switches && std::ranges::none_of(picture.edges, [&](const Edge& edge) {
           const Item &a = picture.items[edge.a], &b = picture.items[edge.b];
           if (a.level != b.level) return false;
           return a.cluster != b.cluster || (a.cluster.empty() && !are_neighbours(picture, edge));
         });
}

double gap_of(const Picture& picture) {
  return std::ranges::any_of(picture.edges, has_label) ? kGapBesideLabels : kRowGap;
}

double readable_width(std::size_t pixels) {
  constexpr double kText = kNodeFont, kLeastText = 9;
  return static_cast<double>(pixels) * kText / kLeastText;
}

double width_of_rows(const Picture& picture) {
  const auto blocks = blocks_of(picture);
  std::map<std::size_t, double> rows, labels;
  for (const auto& [cluster, block] : blocks) {
    for (const auto& [level, width] : block) {
      if (cluster.empty()) rows[level] += width;
    }
    if (cluster.empty()) continue;
    for (std::size_t level = block.begin()->first; level <= block.rbegin()->first; ++level) {
      rows[level] += widest(block) + kClusterMargin;
    }
  }
  for (const Edge& edge : picture.edges) {
    const std::size_t a = picture.items[edge.a].level, b = picture.items[edge.b].level;
    if (a == b || !has_label(edge)) continue;
    labels[std::min(a, b)] += text_width(label_of(edge, edge.a), kLabelFont) + kRowGap;
  }
  return std::max(widest(rows), widest(labels));
}

std::vector<std::size_t> broken_rows(const Picture& picture, double width) {
  std::vector<std::size_t> row(picture.items.size(), 0);
  const double whole = width_of_rows(picture), gap = gap_of(picture);
  if (whole <= width) return row;
  const auto blocks = blocks_of(picture);
  std::map<std::pair<std::string, std::size_t>, double> used;
  for (std::size_t i = 0; i < picture.items.size(); ++i) {
    const Item& item = picture.items[i];
    // A box gets as much of the width as it has of the whole.
    const double share =
        item.cluster.empty() ? width : width * widest(blocks.at(item.cluster)) / whole;
    double& before = used[{item.cluster, item.level}];
    row[i] = static_cast<std::size_t>(before / share);
    before += size_of(item).width + gap;
  }
  return row;
}

}  // namespace forestcoll::topology
