// Who of a box stands at its door.
#pragma once

#include <cstddef>
#include <vector>

#include "baseline/boxes.hpp"
#include "baseline/path_finder.hpp"

namespace forestcoll::baseline {

/// The ranks of a box from which switches lead out of it; with one box, all.
[[nodiscard]] std::vector<Rank> doors_of(const Boxes& boxes, std::size_t box, PathFinder& finder);

}  // namespace forestcoll::baseline
