#include "solver/height/edges/shapes.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace forestcoll::solver {
namespace {

// Potentials stay below 2^60, so that sums of a few of them fit.
constexpr int kMostBits = 60;

constexpr int kWidestBase = 2;

int width(std::int64_t x) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(x)));
}

}  // namespace

std::optional<int> TreeShapes::base_bits_for(std::int32_t height, std::size_t ranks) {
  for (int bits = kWidestBase; bits > 0; --bits) {
    if (bits * height + width(static_cast<std::int64_t>(ranks)) < kMostBits) return bits;
  }
  return std::nullopt;
}

void TreeShapes::add(std::span<const Rank> parents) {
  const std::size_t t = nodes_.size() / ranks_;
  nodes_.resize(nodes_.size() + ranks_);
  Rank root;
  for (std::size_t v = 0; v < ranks_; ++v) {
    if (parents[v] == Rank(v)) {
      root = Rank(v);
      node(t, root).parent = root;
    } else {
      link(t, Rank(v), parents[v]);
    }
  }
  // From the root down; then weights from the last to the first.
  pending_.assign(1, root);
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const Node& at = node(t, pending_[i]);
    for (Rank child = at.first_child; child.valid(); child = node(t, child).next) {
      node(t, child).depth = at.depth + 1;
      pending_.push_back(child);
    }
  }
  for (std::size_t i = pending_.size() - 1; i > 0; --i) {
    const Node& at = node(t, pending_[i]);
    node(t, at.parent).weight += at.weight << base_bits_;
  }
}

std::int32_t TreeShapes::height(std::size_t t) const {
  std::int32_t height = 0;
  for (std::size_t v = 0; v < ranks_; ++v) height = std::max(height, node(t, Rank(v)).depth);
  return height;
}

bool TreeShapes::is_below(std::size_t t, Rank v, Rank u) const {
  const std::int32_t depth = node(t, v).depth;
  while (node(t, u).depth > depth) u = node(t, u).parent;
  return u == v;
}

std::optional<std::int64_t> TreeShapes::change_of(std::int64_t weight, std::int32_t from,
                                                  std::int32_t to) const {
  if (width(weight) + base_bits_ * to > kMostBits) return std::nullopt;
  return (weight << (base_bits_ * to)) - (weight << (base_bits_ * from));
}

std::optional<std::int64_t> TreeShapes::change(std::size_t t, Rank v, Rank parent) const {
  const Node& at = node(t, v);
  return change_of(at.weight, at.depth, node(t, parent).depth + 1);
}

void TreeShapes::link(std::size_t t, Rank v, Rank parent) {
  Node& at = node(t, v);
  Node& above = node(t, parent);
  at.parent = parent;
  at.previous = Rank();
  at.next = above.first_child;
  if (at.next.valid()) node(t, at.next).previous = v;
  above.first_child = v;
}

void TreeShapes::unlink(std::size_t t, Rank v) {
  const Node& at = node(t, v);
  if (at.next.valid()) node(t, at.next).previous = at.previous;
  (at.previous.valid() ? node(t, at.previous).next : node(t, at.parent).first_child) = at.next;
}

// To the node and all above it, as much as a child of the node with this weight counts for.
void TreeShapes::add_weight(std::size_t t, Rank from, std::int64_t weight) {
  for (Rank u = from;; u = node(t, u).parent) {
    weight *= std::int64_t{1} << base_bits_;
    node(t, u).weight += weight;
    if (node(t, u).parent == u) return;
  }
}

void TreeShapes::shift(std::size_t t, Rank top, std::int32_t by) {
  pending_.assign(1, top);
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    Node& at = node(t, pending_[i]);
    at.depth += by;
    for (Rank child = at.first_child; child.valid(); child = node(t, child).next) {
      pending_.push_back(child);
    }
  }
}

void TreeShapes::move(std::size_t t, Rank v, Rank parent) {
  const Node at = node(t, v);
  if (at.parent == parent) return;
  add_weight(t, at.parent, -at.weight);
  unlink(t, v);
  link(t, v, parent);
  add_weight(t, parent, at.weight);
  if (const std::int32_t by = node(t, parent).depth + 1 - at.depth; by != 0) shift(t, v, by);
}

// Is the node in the group or below a member?
bool TreeShapes::passes_group(std::size_t t, Rank v) const {
  for (;; v = node(t, v).parent) {
    if (place_[v.index()] >= 0) return true;
    if (node(t, v).parent == v) return false;
  }
}

bool TreeShapes::find_new_depths(std::size_t t, std::span<const Rank> group,
                                 std::span<const Rank> parents) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    // Up through the group; more hops than members lead round in a circle.
    std::int32_t hops = 1;
    Rank up = parents[i];
    for (; place_[up.index()] >= 0; ++hops) {
      if (static_cast<std::size_t>(hops) > group.size()) return false;
      up = parents[static_cast<std::size_t>(place_[up.index()])];
    }
    if (passes_group(t, up)) return false;
    new_depth_[i] = node(t, up).depth + hops;
  }
  return true;
}

void TreeShapes::enter_group(std::span<const Rank> group) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    place_[group[i].index()] = static_cast<std::int32_t>(i);
  }
  new_depth_.resize(group.size());
}

void TreeShapes::leave_group(std::span<const Rank> group) {
  for (const Rank r : group) place_[r.index()] = -1;
}

std::optional<std::int64_t> TreeShapes::change(std::size_t t, std::span<const Rank> group,
                                               std::span<const Rank> parents) {
  enter_group(group);
  bool possible = find_new_depths(t, group, parents);
  own_weight_.clear();
  for (const Rank r : group) own_weight_.push_back(node(t, r).weight);
  for (std::size_t i = 0; i < group.size() && possible; ++i) {
    const Node& at = node(t, group[i]);
    if (const std::int32_t above = place_[at.parent.index()]; above >= 0) {
      own_weight_[static_cast<std::size_t>(above)] -= at.weight << base_bits_;
    } else {
      possible = !passes_group(t, at.parent);
    }
  }
  leave_group(group);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < group.size() && possible; ++i) {
    const auto change = change_of(own_weight_[i], node(t, group[i]).depth, new_depth_[i]);
    if (!change || sum + *change > std::int64_t{1} << kMostBits) return std::nullopt;
    sum += *change;
  }
  return possible ? std::optional(sum) : std::nullopt;
}

// From the top down: no rank is then moved below itself.
void TreeShapes::move(std::size_t t, std::span<const Rank> group, std::span<const Rank> parents) {
  enter_group(group);
  find_new_depths(t, group, parents);
  leave_group(group);
  order_.resize(group.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(new_depth_[a], a) < std::pair(new_depth_[b], b);
  });
  for (const std::size_t i : order_) move(t, group[i], parents[i]);
}

}  // namespace forestcoll::solver
