// Which ranks sit together.
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace forestcoll::baseline
