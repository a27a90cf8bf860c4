// Pictures in rows: which they are, how wide they get, and where rows are broken.
#pragma once

#include <cstddef>
#include <vector>

#include "topology/draw/picture.hpp"

namespace forestcoll::topology {

/// In points, about as Graphviz has it.
struct Size {
  double width = 0, height = 0;
};
[[nodiscard]] Size size_of(const Item& item);

/// Whether switches join what is above them, and no links lead along a row from box to box: such a
/// picture has a row per level.
[[nodiscard]] bool is_layered(const Picture& picture);

/// Points between neighbours in a row.
[[nodiscard]] double gap_of(const Picture& picture);

/// As many points as can be drawn in so many pixels with text that can still be read.
[[nodiscard]] double readable_points(std::size_t pixels);

/// In points: the widest row, with the boxes that it leads through. Cost: O(items + edges).
[[nodiscard]] double width_of_rows(const Picture& picture);

/// By item: in which row of its level it stands, from 0. Levels of boxes that are too wide for
/// `width` points have several.
[[nodiscard]] std::vector<std::size_t> broken_rows(const Picture& picture, double width);

}  // namespace forestcoll::topology
