// Nodes that are one way on purpose.
#pragma once

#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"
#include "topology/arcs.hpp"

namespace forestcoll::topology {

/// A PCIe switch, or a NIC that several GPUs share, stands in a file as two switch nodes, one for
/// what goes out to the network and one for what comes in: so PCIe is no way from GPU to GPU. True
/// for such nodes: switches with a one-way pair of kind pcie, whose pairs both ways, if any, are of
/// kind pcie or cpu. `arcs` are the topology's. Cost: O(m log m) where there are such pairs.
[[nodiscard]] IdVector<NodeId, bool> pcie_directions(const Topology& topology,
                                                     const std::vector<DirectedLink>& arcs);

}  // namespace forestcoll::topology
