#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "topology/draw/placement.hpp"

namespace forestcoll::topology {
namespace {

constexpr double kLeastRowGap = 58, kMostRowGap = 150;
constexpr double kSubRowGap = 30;  // between parts of a broken row
constexpr double kPadding = 12, kNameHeight = 20, kBoxGap = 26;

using Row = std::pair<std::size_t, std::size_t>;  // level, part of a broken one

class Layering {
 public:
  Layering(const Picture& picture, double width, double stretch)
      : picture_(picture),
        gap_((gap_of(picture) > 20 ? 34 : 12) * stretch),
        stretch_(stretch),
        part_(broken_rows(picture, width)),
        neighbours_(picture.items.size()) {
    layers_.items.resize(picture.items.size());
    for (const Edge& edge : picture.edges) {
      neighbours_[edge.a].push_back(edge.b);
      neighbours_[edge.b].push_back(edge.a);
    }
  }

  Layers place() {
    std::map<std::string, std::map<Row, std::vector<std::size_t>>> boxes;
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      const Item& item = picture_.items[i];
      boxes[item.cluster][{item.level, part_[i]}].push_back(i);
    }
    std::map<Row, std::vector<std::size_t>> above;
    std::vector<std::size_t> alone;
    for (const auto& [row, items] : boxes[""]) {
      for (const std::size_t i : items) {
        const bool joins = picture_.items[i].kind == ItemKind::switch_node;
        joins ? above[row].push_back(i) : alone.push_back(i);
      }
    }
    boxes.erase("");
    double right = 0;
    std::vector<std::pair<std::string, std::pair<double, double>>> extents;
    for (const std::string& name : in_file_order(boxes)) {
      const auto [low, high] = place_block(boxes.at(name));
      const double least = area_of({name}, kFrameFont).width + 16;
      const double inner = std::max(high - low, least);
      const double move = right + kPadding - low + (inner - (high - low)) / 2;
      for (const auto& [row, items] : boxes.at(name)) {
        for (const std::size_t i : items) layers_.items[i].x += move;
      }
      extents.emplace_back(name, std::pair(right, right + inner + 2 * kPadding));
      right += inner + 2 * kPadding + kBoxGap;
    }
    right = place_alone(alone, right);
    total_ = std::max(right - kBoxGap, 0.0);
    place_outside(above);
    set_heights();
    for (const auto& [name, extent] : extents) add_frame(name, extent, boxes.at(name));
    return std::move(layers_);
  }

 private:
  [[nodiscard]] double width_of(std::size_t i) const { return size_of(picture_.items[i]).width; }

  template <class Map>
  [[nodiscard]] std::vector<std::string> in_file_order(const Map& boxes) const {
    std::vector<std::string> names;
    for (const Item& item : picture_.items) {
      if (boxes.contains(item.cluster) && std::ranges::count(names, item.cluster) == 0) {
        names.push_back(item.cluster);
      }
    }
    return names;
  }

  // The middle of the placed neighbours that `counts` says; `otherwise` where there are none.
  template <class Counts>
  [[nodiscard]] double middle_of(std::size_t i, double otherwise, const Counts& counts) const {
    double sum = 0, count = 0;
    for (const std::size_t j : neighbours_[i]) {
      if (!counts(j)) continue;
      sum += layers_.items[j].x;
      ++count;
    }
    return count > 0 ? sum / count : otherwise;
  }

  // Side by side from 0 on, in this order.
  void line_up(const std::vector<std::size_t>& items) {
    double right = 0;
    for (const std::size_t i : items) {
      layers_.items[i].x = right + width_of(i) / 2;
      right += width_of(i) + gap_;
    }
  }

  // Every item as close to where it wants to be as the others leave it, in the order of the places.
  void settle(std::vector<std::size_t> items, const std::vector<double>& wanted) {
    std::vector<std::size_t> order(items.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    // To a tenth of a pixel: what is equal but for rounding keeps the order of the file.
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return std::round(wanted[k] * 10); });
    double right = -1e9, moved = 0;
    for (const std::size_t k : order) {
      const double half = width_of(items[k]) / 2;
      const double x = std::max(wanted[k], right + half);
      layers_.items[items[k]].x = x;
      moved += x - wanted[k];
      right = x + half + gap_;
    }
    const double back = moved / static_cast<double>(items.size());
    for (const std::size_t i : items) layers_.items[i].x -= back;
  }

  // GPUs, and boxes drawn as one, that are in no box, beside those from `left` on; a broken row
  // begins there again. Where they end, and a gap.
  double place_alone(const std::vector<std::size_t>& items, double left) {
    std::map<std::size_t, double> ends;
    double right = left;
    for (const std::size_t i : items) {
      double& end = ends.emplace(part_[i], left).first->second;
      layers_.items[i].x = end + width_of(i) / 2;
      end += width_of(i) + gap_;
      right = std::max(right, end - gap_ + kBoxGap);
    }
    return right;
  }

  // The rows of a box, the GPUs' first; from where to where they reach.
  std::pair<double, double> place_block(const std::map<Row, std::vector<std::size_t>>& rows) {
    const auto base = std::ranges::max_element(rows, {}, [&](const auto& row) {
      return std::pair(
          std::ranges::count_if(
              row.second,
              [&](std::size_t i) { return picture_.items[i].kind != ItemKind::switch_node; }),
          row.second.size());
    });
    line_up(base->second);
    std::vector<bool> placed(picture_.items.size(), false);
    const auto settle_row = [&](const std::vector<std::size_t>& items) {
      double middle = 0;
      for (const std::size_t i : base->second) middle += layers_.items[i].x;
      middle /= static_cast<double>(base->second.size());
      std::vector<double> wanted;
      for (const std::size_t i : items) {
        wanted.push_back(middle_of(i, middle, [&](std::size_t j) { return placed[j]; }));
      }
      settle(items, wanted);
      for (const std::size_t i : items) placed[i] = true;
    };
    for (const std::size_t i : base->second) placed[i] = true;
    for (auto row = std::next(base); row != rows.end(); ++row) settle_row(row->second);
    for (auto row = base; row != rows.begin();) settle_row((--row)->second);
    double low = 1e9, high = -1e9;
    for (const auto& [row, items] : rows) {
      for (const std::size_t i : items) {
        low = std::min(low, layers_.items[i].x - width_of(i) / 2);
        high = std::max(high, layers_.items[i].x + width_of(i) / 2);
      }
    }
    return {low, high};
  }

  // What is in no box: above the middle of what it joins, or evenly where all join the same.
  void place_outside(const std::map<Row, std::vector<std::size_t>>& rows) {
    for (const auto& [row, items] : rows) {
      const auto count = static_cast<double>(items.size());
      double natural = -gap_;
      for (const std::size_t i : items) natural += width_of(i) + gap_;
      if (total_ == 0) {
        line_up(items);
        total_ = natural;
        continue;
      }
      std::vector<double> wanted;
      for (const std::size_t i : items) {
        wanted.push_back(middle_of(i, total_ / 2, [&](std::size_t j) {
          return picture_.items[j].level < picture_.items[i].level;
        }));
      }
      const auto [least, most] = std::ranges::minmax(wanted);
      if (most - least < total_ / 4) {
        // Not out to the edges: lines to the outermost would be flat.
        const double width = std::max(natural, std::min(total_, natural + total_ * 0.6));
        const double left = total_ / 2 - width / 2;
        for (std::size_t k = 0; k < items.size(); ++k) {
          wanted[k] = left + width * (static_cast<double>(k) + 0.5) / count;
        }
      }
      settle(items, wanted);
    }
  }

  // The lowest row at 0.
  void set_heights() {
    std::map<Row, double> heights;  // of the rows
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      double& height = heights[{picture_.items[i].level, part_[i]}];
      height = std::max(height, size_of(picture_.items[i]).height);
    }
    const double gap = std::clamp(total_ * 0.075, kLeastRowGap, kMostRowGap) * std::sqrt(stretch_);
    std::map<Row, double> at;
    double y = 0;
    bool first = true;
    Row before;
    for (const auto& [row, height] : heights) {
      if (!first) {
        y += (heights.at(before) + height) / 2;
        y += before.first == row.first ? kSubRowGap : gap + arcs_below(row.first);
      }
      at[row] = y;
      before = row;
      first = false;
    }
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      layers_.items[i].y = at.at({picture_.items[i].level, part_[i]});
    }
  }

  // Whether others stand between the ends of a link along a row, so that it is an arc.
  [[nodiscard]] bool has_between(const Edge& edge) const {
    const double left = std::min(layers_.items[edge.a].x, layers_.items[edge.b].x);
    const double right = std::max(layers_.items[edge.a].x, layers_.items[edge.b].x);
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      const bool in_row =
          picture_.items[i].level == picture_.items[edge.a].level && part_[i] == part_[edge.a];
      if (in_row && layers_.items[i].x > left && layers_.items[i].x < right) return true;
    }
    return false;
  }

  [[nodiscard]] double arcs_below(std::size_t level) const {
    double deepest = 0;
    for (const Edge& edge : picture_.edges) {
      if (picture_.items[edge.a].level != level || picture_.items[edge.b].level != level) continue;
      if (!has_between(edge)) continue;
      deepest = std::max(deepest,
                         depth_of_arc(std::abs(layers_.items[edge.a].x - layers_.items[edge.b].x)));
    }
    return deepest;
  }

  void add_frame(const std::string& name, const std::pair<double, double>& extent,
                 const std::map<Row, std::vector<std::size_t>>& rows) {
    double low = 1e9, high = -1e9;
    for (const auto& [row, items] : rows) {
      const double below = arcs_below(row.first);
      for (const std::size_t i : items) {
        const double half = size_of(picture_.items[i]).height / 2;
        low = std::min(low, layers_.items[i].y - half - below * 0.8);
        high = std::max(high, layers_.items[i].y + half);
      }
    }
    low -= kPadding + kNameHeight;
    high += kPadding;
    layers_.frames.push_back({name,
                              {(extent.first + extent.second) / 2, (low + high) / 2},
                              {extent.second - extent.first, high - low},
                              false});
  }

  const Picture& picture_;
  double gap_, stretch_;
  std::vector<std::size_t> part_;
  std::vector<std::vector<std::size_t>> neighbours_;
  double total_ = 0;
  Layers layers_;
};

}  // namespace

double depth_of_arc(double distance) {
  constexpr double kMost = 130;
  return std::min(14 + distance * 0.22, kMost);
}

Layers place_in_layers(const Picture& picture, double width, double stretch) {
  return Layering(picture, width, stretch).place();
}

}  // namespace forestcoll::topology
