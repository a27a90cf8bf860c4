// Which box each node is in.
#pragma once

#include <cstdint>

#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// Nodes of the same box have the same number, from 0 on; those of no box have −1.
[[nodiscard]] IdVector<NodeId, std::int32_t> boxes_of_nodes(const Topology& topology);

}  // namespace forestcoll::cli
