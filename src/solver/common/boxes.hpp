// Boxes of ranks that are joined by wide links, and the links by which data leaves and enters them.
#pragma once

#include <cstddef>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/common/core.hpp"

namespace forestcoll::solver {

/// A link between a rank and a part of the fabric outside of all boxes, in one direction.
struct Gate {
  Rank rank;
  ArcId arc;             ///< of the core
  std::size_t part = 0;  ///< switches that are linked are one part
  Capacity capacity = 0;
};

/// Data goes from box to box through one part of the fabric, from any gate into it to any gate out
/// of it; inside of a box from any rank to any other one.
struct Boxes {
  std::vector<std::vector<Rank>> members;  ///< by box, in rank order
  std::vector<std::vector<Gate>> out, in;  ///< by box, in order of parts and then of ranks
  std::vector<char> is_outside;            ///< by node: a switch of a part
};

/// The divisions into three boxes and more: for each width of links the ranks that links as wide
/// join, where no link but gates leads out of these. The widest first. Cost: O(widths · m log m).
[[nodiscard]] std::vector<Boxes> divisions_into_boxes(const Core& core);

}  // namespace forestcoll::solver
