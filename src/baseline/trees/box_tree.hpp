// Binary trees over boxes.
#pragma once

#include <cstddef>

namespace forestcoll::baseline {

/// One of two complementary binary trees over n boxes: the leaves of one are inside the other
/// (Sanders, Speck, Träff 2009).
class BoxTree {
 public:
  BoxTree(std::size_t boxes, bool second) : boxes_(boxes), second_(second) {}
  [[nodiscard]] std::size_t root() const { return from_position(0); }
  /// REQUIRES: not the root.
  [[nodiscard]] std::size_t parent(std::size_t box) const {
    return from_position(parent_in_order(to_position(box)));
  }
  /// Edges between a box and the root.
  [[nodiscard]] std::size_t depth(std::size_t box) const {
    std::size_t edges = 0;
    for (; box != root(); box = parent(box)) ++edges;
    return edges;
  }

 private:
  // The binary tree in which position p has the height of its lowest set bit: p's parent; 0 is the
  // root. Every second position is a leaf.
  [[nodiscard]] std::size_t parent_in_order(std::size_t p) const {
    const std::size_t bit = p & (~p + 1);
    const std::size_t up = (p ^ bit) | (bit << 1U);
    return up < boxes_ ? up : p ^ bit;
  }
  // The second tree is the mirror image, or where that has the same leaves, turned by one.
  [[nodiscard]] std::size_t from_position(std::size_t p) const {
    if (!second_) return p;
    return boxes_ % 2 == 0 ? boxes_ - 1 - p : (p + 1) % boxes_;
  }
  [[nodiscard]] std::size_t to_position(std::size_t box) const {
    if (!second_) return box;
    return boxes_ % 2 == 0 ? boxes_ - 1 - box : (box + boxes_ - 1) % boxes_;
  }
  std::size_t boxes_;
  bool second_;
};

}  // namespace forestcoll::baseline
