// Where the items of a picture stand: in rows, in layers of them, or on circles.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "topology/draw/picture.hpp"
#include "topology/draw/sheet.hpp"

namespace forestcoll::topology {

/// In pixels, with room around its text.
[[nodiscard]] Size size_of(const Item& item);

/// Whether switches join what is above them, and no links lead along a row from box to box, or
/// outside of boxes past others of the row: such a picture has a row per level.
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

struct Layers {
  std::vector<Spot> items;  ///< by item
  std::vector<SheetFrame> frames;
};

/// Boxes side by side, each as its rows are: what stands above stands in the middle of what it is
/// linked to. Rows that would make the picture wider than `width` are broken. Links along a row are
/// arcs below it, for which there is room. `stretch` widens all gaps. Cost: O(links log links).
[[nodiscard]] Layers place_in_layers(const Picture& picture, double width, double stretch = 1);

/// How deep an arc between two items of a row hangs below it.
[[nodiscard]] double depth_of_arc(double distance);

struct Frame {
  std::string box;
  Spot centre;
  double radius = 0;
};

struct Circles {
  std::vector<Spot> items;  ///< by item
  std::vector<Frame> frames;
};

/// For boxes that are linked to each other: each a circle, all on a large one. In a box, what has
/// one link alone, such as a GPU of a router, stands outside beside that; the others stand on a
/// circle in the order of the file. What is in no box stands in the middle.
[[nodiscard]] Circles place_on_circles(const Picture& picture);

}  // namespace forestcoll::topology
