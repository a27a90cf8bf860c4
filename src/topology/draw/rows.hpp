// Pictures in rows: which they are, how wide they get, and where rows are broken.
#pragma once

#include <cstddef>
#include <vector>

#include "topology/draw/picture.hpp"

namespace forestcoll::topology {

/// In pixels, with room around its text.
[[nodiscard]] Size size_of(const Item& item);

/// Whether switches join what is above them, and no links lead along a row from box to box: such a
/// picture has a row per level.
[[nodiscard]] bool is_layered(const Picture& picture);

/// Pixels between neighbours in a row.
[[nodiscard]] double gap_of(const Picture& picture);

/// How wide a picture may be that is then shown in so many pixels, with text that can be read.
[[nodiscard]] double readable_width(std::size_t pixels);

/// In pixels: the widest row, with the boxes that it leads through. Cost: O(items + edges).
[[nodiscard]] double width_of_rows(const Picture& picture);

/// By item: in which row of its level it stands, from 0. Levels of boxes that are too wide for
/// `width` have several.
[[nodiscard]] std::vector<std::size_t> broken_rows(const Picture& picture, double width);

}  // namespace forestcoll::topology
