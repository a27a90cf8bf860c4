// Which ranks sit together, and which of them are at the door.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "baseline/path_finder.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::baseline {

struct Boxes {
  std::vector<std::vector<Rank>> members;  ///< in rank order; boxes by their first rank
  IdVector<NodeId, std::int32_t> box_of;   ///< −1: in none
  [[nodiscard]] std::size_t size() const { return members.size(); }
};

/// As the topology's boxes say. A fabric with ranks outside of boxes, or with all in one, is one
/// box with everything in it.
[[nodiscard]] Boxes group_boxes(const Topology& topology, const Network& network);

/// The same, for what is of several boxes. Error B02: there is one.
[[nodiscard]] Expected<Boxes> several_boxes(const Topology& topology, const Network& network);

/// The ranks of a box from which switches lead out of it; with one box, all.
[[nodiscard]] std::vector<Rank> doors_of(const Boxes& boxes, std::size_t box, PathFinder& finder);

/// The doors of each box by rail, as many of each: the doors in their order; or, where boxes have
/// different numbers of them or switches do not join those of one place, as after a failure, each
/// of a box with the fewest, and the nearest one of every other box. Doors that some box has no
/// counterpart of are left out, but where that leaves none.
/// Cost: a search per door, and one more for each door of one box.
[[nodiscard]] std::vector<std::vector<Rank>> doors_by_rail(const Boxes& boxes, PathFinder& finder);

}  // namespace forestcoll::baseline
