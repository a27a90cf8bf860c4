// The shapes of trees under change: parents, children, depths, and how much weight the depths have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"

namespace forestcoll::solver {

/// Trees over the same ranks. The potential of a tree is Σ_v B^depth(v) with B = 2^`base_bits`, so
/// that one deep node counts for more than several that are less deep. As B^(d+1) = B·B^d, the
/// weight of a subtree is the same wherever it hangs, but for the factor B^depth: what a move
/// changes is known without making it.
class TreeShapes {
 public:
  /// REQUIRES: `fits(height, ranks, base_bits)` for all trees that there will be.
  TreeShapes(std::size_t ranks, int base_bits)
      : ranks_(ranks), base_bits_(base_bits), place_(ranks, -1) {}

  /// The widest base, at most 4, for which potentials of trees of this height fit 64 bits.
  [[nodiscard]] static std::optional<int> base_bits_for(std::int32_t height, std::size_t ranks);

  /// Appends a tree; `parents` has the root at the root's place. Cost: O(N).
  void add(std::span<const Rank> parents);

  [[nodiscard]] Rank parent(std::size_t t, Rank v) const { return node(t, v).parent; }
  [[nodiscard]] std::int32_t depth(std::size_t t, Rank v) const { return node(t, v).depth; }
  [[nodiscard]] std::int32_t height(std::size_t t) const;
  /// Is `u` equal to `v` or below it? Cost: O(depth).
  [[nodiscard]] bool is_below(std::size_t t, Rank v, Rank u) const;

  /// What the potential would change by if `v` became a child of `parent`, which is not below it;
  /// nothing where that does not fit. Cost: O(1).
  [[nodiscard]] std::optional<std::int64_t> change(std::size_t t, Rank v, Rank parent) const;
  /// Makes `v` a child of `parent`. Cost: O(depth + subtree).
  void move(std::size_t t, Rank v, Rank parent);

  /// What the potential would change by if each rank of `group` became a child of the rank in the
  /// same place of `parents`. Nothing where these make no tree, where a way into the group has
  /// passed through it before, or where it does not fit. REQUIRES: the root is not in the group.
  /// Cost: O(|group| · depth).
  [[nodiscard]] std::optional<std::int64_t> change(std::size_t t, std::span<const Rank> group,
                                                   std::span<const Rank> parents);
  /// Makes that change, which `change` must have found possible.
  /// Cost: O(|group| · (depth + subtree)).
  void move(std::size_t t, std::span<const Rank> group, std::span<const Rank> parents);

 private:
  struct Node {
    std::int64_t weight = 1;  ///< Σ over the subtree of B^(depth below this node)
    Rank parent, first_child, next, previous;
    std::int32_t depth = 0;
  };
  [[nodiscard]] const Node& node(std::size_t t, Rank v) const {
    return nodes_[t * ranks_ + v.index()];
  }
  [[nodiscard]] Node& node(std::size_t t, Rank v) { return nodes_[t * ranks_ + v.index()]; }
  [[nodiscard]] std::optional<std::int64_t> change_of(std::int64_t weight, std::int32_t from,
                                                      std::int32_t to) const;
  void link(std::size_t t, Rank v, Rank parent);
  void unlink(std::size_t t, Rank v);
  void add_weight(std::size_t t, Rank from, std::int64_t weight);
  void shift(std::size_t t, Rank top, std::int32_t by);
  [[nodiscard]] bool passes_group(std::size_t t, Rank v) const;
  void enter_group(std::span<const Rank> group);
  void leave_group(std::span<const Rank> group);
  bool find_new_depths(std::size_t t, std::span<const Rank> group, std::span<const Rank> parents);

  std::size_t ranks_;
  int base_bits_;
  std::vector<Node> nodes_;  ///< by tree and rank
  std::vector<Rank> pending_;
  /// By rank: its place in the group that is asked about; −1: not in it.
  std::vector<std::int32_t> place_;
  std::vector<std::int32_t> new_depth_;   ///< by place
  std::vector<std::int64_t> own_weight_;  ///< by place: without what hangs on others of the group
  std::vector<std::size_t> order_;
};

}  // namespace forestcoll::solver
