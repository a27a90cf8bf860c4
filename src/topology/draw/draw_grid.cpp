// Pictures of grids, tori, rings and hypercubes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "forestcoll/text.hpp"
#include "topology/draw/grid.hpp"
#include "topology/draw/labels.hpp"
#include "topology/draw/limit_marks.hpp"
#include "topology/draw/link_style.hpp"

namespace forestcoll::topology {
namespace {

constexpr double kNodeHeight = 24, kStub = 26;

/// All links between two neighbours.
struct Joint {
  Ratio there, back;  ///< from the lower node to the higher one, and back; of enabled links
  std::string kind;   ///< the widest link's
  Ratio widest;
  bool crosses = false;
};
using Joints = std::map<std::pair<std::size_t, std::size_t>, Joint>;

Joints joints_of(const Topology& topology, const DrawOptions& options) {
  std::set<std::size_t> sending;
  for (const NodeId node : options.sending) sending.insert(node.index());
  Joints joints;
  for (const TopologyLink& link : topology.links) {
    const std::size_t src = link.src.index(), dst = link.dst.index();
    Joint& joint = joints[std::minmax(src, dst)];
    if (joint.kind.empty() || joint.widest < link.bandwidth) {
      joint.kind = link.kind;
      joint.widest = link.bandwidth;
    }
    if (!link.enabled || !topology.nodes[link.src].enabled || !topology.nodes[link.dst].enabled) {
      continue;
    }
    Ratio &forward = src < dst ? joint.there : joint.back,
          &backward = src < dst ? joint.back : joint.there;
    forward = checked_add(forward, link.bandwidth).value_or(forward);
    if (link.full_duplex) backward = checked_add(backward, link.bandwidth).value_or(backward);
    const auto is_red = [&](NodeId from, NodeId to) {
      const bool is_cut = sending.contains(from.index()) && !sending.contains(to.index());
      return is_cut || std::ranges::binary_search(options.marked, std::pair(from, to));
    };
    if (is_red(link.src, link.dst) || (link.full_duplex && is_red(link.dst, link.src))) {
      joint.crosses = true;
    }
  }
  return joints;
}

class GridDrawer {
 public:
  GridDrawer(const Grid& grid, const Topology& topology, const DrawOptions& options)
      : grid_(grid),
        topology_(topology),
        options_(options),
        named_(topology.nodes.size() <= options.detail),
        joints_(joints_of(topology, options)),
        style_(topology, options, widest(), grid.node_at.size() * grid.dims.size()) {
    for (const DrawnHop& hop : options.hops) {
      add_round(rounds_, hop.from.index(), hop.to.index(), hop.round);
    }
    for (const TopologyNode& node : topology.nodes) {
      name_width_ = std::max(name_width_, text_width(node.id, kNodeFont) + 14);
    }
    measure();
  }

  Sheet draw() {
    for (std::size_t cell = 0; cell < grid_.node_at.size(); ++cell) add_node(cell);
    for (std::size_t cell = 0; cell < grid_.node_at.size(); ++cell) {
      for (std::size_t dim = 0; dim < grid_.dims.size(); ++dim) {
        if (const auto next = grid_.next(cell, dim)) add_link(cell, *next, dim);
      }
    }
    if (!named_) add_numbers();
    if (broken_links_ + broken_nodes_ > 0) {
      std::vector<std::string> what;
      if (broken_links_ > 0) what.push_back(counted(broken_links_, "link"));
      if (broken_nodes_ > 0) what.push_back(counted(broken_nodes_, "node"));
      sheet_.note = fmt::format("dashed: disabled or missing ({})", fmt::join(what, ", "));
    }
    add_limits();
    style_.set_head(sheet_);
    return std::move(sheet_);
  }

 private:
  [[nodiscard]] Ratio widest() const {
    Ratio most = 0;
    for (const auto& [ends, joint] : joints_) most = std::max({most, joint.there, joint.back});
    return most;
  }

  [[nodiscard]] bool is_ring() const { return grid_.dims.size() == 1 && grid_.wraps[0]; }
  [[nodiscard]] bool has_planes() const { return grid_.dims.size() == 3 && !named_; }
  [[nodiscard]] std::size_t rows() const { return grid_.dims[row_]; }
  [[nodiscard]] std::size_t columns() const { return grid_.dims[column_]; }

  // Which dimension runs where, and how far apart places are.
  void measure() {
    column_ = grid_.dims.size() - 1;
    row_ = grid_.dims.size() >= 2 ? grid_.dims.size() - 2 : column_;
    if (grid_.dims.size() == 3) {
      // The shortest one slants, or is that of the planes.
      depth_ = static_cast<std::size_t>(std::ranges::min_element(grid_.dims) - grid_.dims.begin());
      row_ = depth_ == 0 ? 1 : 0;
      column_ = depth_ == 2 ? 1 : 2;
    }
    if (!named_) {
      constexpr double kLeast = 16, kMost = 26, kUsual = 800;
      const double step = std::clamp(kUsual / static_cast<double>(columns()), kLeast, kMost);
      step_x_ = step_y_ = step;
      return;
    }
    step_x_ = name_width_ + 44;
    step_y_ = kNodeHeight + 44;
    if (grid_.dims.size() < 3) return;
    const auto depth = static_cast<double>(grid_.dims[depth_]);
    slant_x_ = name_width_ * 0.6 + 8;
    slant_y_ = kNodeHeight + 12;
    step_x_ = depth * slant_x_ + name_width_;
    step_y_ = depth * slant_y_ + kNodeHeight;
  }

  [[nodiscard]] Spot spot(std::size_t cell) const {
    const auto place = grid_.place(cell);
    if (is_ring()) return on_ring(place[0]);
    const auto column = static_cast<double>(place[column_]);
    const double row = grid_.dims.size() == 1 ? 0 : static_cast<double>(place[row_]);
    Spot at{column * step_x_, -row * step_y_};
    if (grid_.dims.size() < 3) return at;
    const std::size_t depth = place[depth_];
    if (!has_planes()) {
      at.x += static_cast<double>(depth) * slant_x_;
      at.y += static_cast<double>(depth) * slant_y_;
      return at;
    }
    const Spot corner = corner_of_plane(depth);
    return {at.x + corner.x, at.y + corner.y};
  }

  // Planes stand side by side, in rows that are about as wide as high.
  [[nodiscard]] Spot corner_of_plane(std::size_t plane) const {
    constexpr double kGap = 3.4;  // steps
    const double width = (static_cast<double>(columns()) + kGap) * step_x_;
    const double height = (static_cast<double>(rows()) + kGap) * step_y_;
    const auto planes = static_cast<double>(grid_.dims[depth_]);
    const auto in_row = static_cast<std::size_t>(std::ceil(std::sqrt(planes * height / width * 2)));
    const std::size_t wide = std::clamp<std::size_t>(in_row, 1, grid_.dims[depth_]);
    const std::size_t column = plane % wide, row = plane / wide;
    return {static_cast<double>(column) * width, -static_cast<double>(row) * height};
  }

  [[nodiscard]] Spot on_ring(std::size_t place) const {
    const auto count = static_cast<double>(grid_.dims[0]);
    const double apart = named_ ? name_width_ + 20 : 11;
    const double radius = std::max(60.0, apart * count / (2 * std::numbers::pi));
    const double turn = 2 * std::numbers::pi * static_cast<double>(place) / count;
    return {radius * std::sin(turn), radius * std::cos(turn)};
  }

  void add_node(std::size_t cell) {
    SheetNode node;
    node.at = spot(cell);
    const auto id = grid_.node_at[cell];
    node.broken = !id || !topology_.nodes[*id].enabled;
    node.tip = id ? topology_.nodes[*id].id : "missing";
    node.strong = id && options_.root == id;
    if (named_) {
      if (id) node.lines = {topology_.nodes[*id].id};
      node.size = {name_width_, kNodeHeight};
    } else {
      constexpr double kDot = 8;
      node.shape = Shape::dot;
      node.size = {kDot, kDot};
    }
    if (node.broken) ++broken_nodes_;
    sheet_.nodes.push_back(std::move(node));
  }

  void add_link(std::size_t cell, std::size_t next, std::size_t dim) {
    const SheetNode from = sheet_.nodes[cell], to = sheet_.nodes[next];
    SheetLine line;
    line.color = color_of(Ink::broken);
    line.dashed = true;
    line.width = 1.2;
    line.tip = fmt::format("{} - {}", from.tip, to.tip);
    std::optional<std::size_t> forward, backward;
    const auto a = grid_.node_at[cell], b = grid_.node_at[next];
    const auto at = a && b ? joints_.find(std::minmax(a->index(), b->index())) : joints_.end();
    const bool works =
        at != joints_.end() && (at->second.there > Ratio(0) || at->second.back > Ratio(0));
    if (works) {
      const Joint& joint = at->second;
      const bool turned = *a > *b;
      const Ratio &there = turned ? joint.back : joint.there,
                  &back = turned ? joint.there : joint.back;
      line.dashed = false;
      line.color = joint.crosses ? color_of(Ink::bottleneck) : style_.color(joint.kind);
      line.width = style_.width(std::max(there, back));
      line.arrow_at_end = back == Ratio(0);
      line.arrow_at_begin = there == Ratio(0);
      line.tip += fmt::format(
          ", {} GB/s {}",
          there == back ? short_number(there) : short_number(there) + " / " + short_number(back),
          joint.kind);
      forward = round_of(rounds_, a->index(), b->index());
      backward = round_of(rounds_, b->index(), a->index());
    } else if (!from.broken && !to.broken) {
      ++broken_links_;
    }
    if (leaves_picture(cell, next, dim)) {
      add_stubs(from, to, dim, line, {forward, backward});
      return;
    }
    line.points = line_between(from, to);
    if (works) style_.mark(line, forward, backward);
    sheet_.lines.push_back(std::move(line));
  }

  // Around an end, or to another plane.
  [[nodiscard]] bool leaves_picture(std::size_t cell, std::size_t next, std::size_t dim) const {
    if (is_ring()) return false;
    return next < cell || (has_planes() && dim == depth_);
  }

  [[nodiscard]] Spot direction(std::size_t dim) const {
    if (dim == column_) return {1, 0};
    if (dim == row_) return {0, -1};
    const double length = has_planes() ? std::sqrt(2) : std::hypot(slant_x_, slant_y_);
    return has_planes() ? Spot{1 / length, 1 / length} : Spot{slant_x_ / length, slant_y_ / length};
  }

  using BothWays = std::pair<std::optional<std::size_t>, std::optional<std::size_t>>;

  // Two ends of one link: out of the picture behind `from`, and into it before `to`. Where there is
  // room, each says where it leads.
  void add_stubs(const SheetNode& from, const SheetNode& to, std::size_t dim, const SheetLine& line,
                 const BothWays& rounds) {
    const Spot way = direction(dim);
    add_stub(from, to.tip, way, line, rounds);
    SheetLine other = line;
    std::swap(other.arrow_at_begin, other.arrow_at_end);
    add_stub(to, from.tip, {-way.x, -way.y}, other, {rounds.second, rounds.first});
  }

  void add_stub(const SheetNode& node, const std::string& leads_to, const Spot& way, SheetLine line,
                const BothWays& rounds) {
    const double length = named_ ? (grid_.dims.size() == 3 ? kStub / 2 : kStub) : step_x_ * 0.3;
    SheetNode end = node;
    end.size = {0.01, 0.01};
    const double part = 1 / std::max(std::abs(way.x) / (node.size.width / 2),
                                     std::abs(way.y) / (node.size.height / 2));
    end.at = {node.at.x + way.x * (part + length), node.at.y + way.y * (part + length)};
    line.points = line_between(node, end);
    // The arrow into the node is seen; that out of the picture is its twin's.
    if (!line.dashed) style_.mark(line, rounds.first, rounds.second);
    sheet_.lines.push_back(std::move(line));
    if (!named_ || grid_.dims.size() != 2) return;
    const Size area = area_of({leads_to}, kLabelFont);
    sheet_.texts.push_back(
        {{leads_to},
         {end.at.x + way.x * (area.width / 2 + 4), end.at.y + way.y * (area.height / 2 + 2)}});
  }

  // A grid's links have no labels.
  void add_limits() {
    const std::string limits =
        options_.hops.empty() ? LimitMarks(topology_).note_without_letters() : "";
    if (!sheet_.note.empty() && !limits.empty()) sheet_.note += "; ";
    sheet_.note += limits;
  }

  // Numbers of rows and columns beside what has no names, and of planes above them.
  void add_numbers() {
    if (is_ring()) return;
    const std::size_t planes = has_planes() ? grid_.dims[depth_] : 1;
    for (std::size_t plane = 0; plane < planes; ++plane) {
      const Spot corner = has_planes() ? corner_of_plane(plane) : Spot{};
      for (std::size_t i = 0; i < columns(); i += every(columns())) {
        sheet_.texts.push_back({{fmt::format("{}", i)},
                                {corner.x + static_cast<double>(i) * step_x_, corner.y + step_y_}});
      }
      for (std::size_t i = 0; i < rows() && grid_.dims.size() > 1; i += every(rows())) {
        sheet_.texts.push_back(
            {{fmt::format("{}", i)},
             {corner.x - 1.1 * step_x_, corner.y - static_cast<double>(i) * step_y_}});
      }
      if (!has_planes()) continue;
      const double middle = (static_cast<double>(columns()) - 1) / 2 * step_x_;
      sheet_.texts.push_back(
          {{fmt::format("plane {}", plane)}, {corner.x + middle, corner.y + step_y_ + 16}});
    }
  }

  static std::size_t every(std::size_t count) { return count <= 16 ? 1 : count <= 64 ? 4 : 16; }

  const Grid& grid_;
  const Topology& topology_;
  const DrawOptions& options_;
  bool named_;
  Joints joints_;
  LinkStyle style_;
  Rounds rounds_;
  double name_width_ = 36;
  std::size_t column_ = 0, row_ = 0, depth_ = 0;
  double step_x_ = 0, step_y_ = 0, slant_x_ = 0, slant_y_ = 0;
  std::size_t broken_links_ = 0, broken_nodes_ = 0;
  Sheet sheet_;
};

}  // namespace

Sheet draw_grid(const Grid& grid, const Topology& topology, const DrawOptions& options) {
  return GridDrawer(grid, topology, options).draw();
}

}  // namespace forestcoll::topology
