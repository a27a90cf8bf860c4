// Pictures in rows: GPUs below, then NICs, and switches by level up to the spines.
#pragma once

#include <vector>

#include "topology/draw/picture.hpp"
#include "topology/draw/sheet.hpp"

namespace forestcoll::topology {

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

}  // namespace forestcoll::topology
