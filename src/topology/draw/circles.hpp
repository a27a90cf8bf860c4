// Boxes that are linked to each other: each a circle, all on a large one.
#pragma once

#include <string>
#include <vector>

#include "topology/draw/picture.hpp"

namespace forestcoll::topology {

struct Frame {
  std::string box;
  Spot centre;
  double radius = 0;
};

struct Circles {
  std::vector<Spot> items;  ///< by item
  std::vector<Frame> frames;
};

/// In a box, what has one link alone, such as a GPU of a router, stands outside beside that; the
/// others stand on a circle in the order of the file. What is in no box stands in the middle.
[[nodiscard]] Circles place_on_circles(const Picture& picture);

}  // namespace forestcoll::topology
