// Which box each node is in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// Nodes of the same box have the same number, from 0 on; those of no box have −1.
[[nodiscard]] IdVector<NodeId, std::int32_t> boxes_of_nodes(const Topology& topology);

/// The same by rank. A fabric whose GPUs name no box at all is one.
[[nodiscard]] IdVector<Rank, std::int32_t> boxes_of_ranks(const Topology& topology);

/// The names of the boxes that GPUs are in, sorted.
[[nodiscard]] std::vector<std::string> names_of_boxes(const Topology& topology);

/// Whether GPUs are in different boxes: then messages among all of them leave a box. A GPU of no
/// box is outside those that others are in.
[[nodiscard]] bool has_several_boxes(const Topology& topology);

}  // namespace forestcoll
