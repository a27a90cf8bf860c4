// Nodes that are one way on purpose.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"
#include "topology/model/arcs.hpp"

namespace forestcoll::topology {

/// A PCIe switch, or a NIC that several GPUs share, stands in a file as two switch nodes, one for
/// what goes out to the network and one for what comes in: so PCIe is no way from GPU to GPU. True
/// for such nodes: switches with a one-way pair of kind pcie, whose pairs both ways, if any, are of
/// kind pcie or cpu. `arcs` are the topology's. Cost: O(m log m) where there are such pairs.
[[nodiscard]] IdVector<NodeId, bool> pcie_directions(const Topology& topology,
                                                     const std::vector<DirectedLink>& arcs);

/// The two nodes that one device is, by their names: "box0/nic3" is "box0/nic_out3" and
/// "box0/nic_in3".
struct DeviceHalves {
  std::string out, in;
};
[[nodiscard]] DeviceHalves halves_of(std::string_view device);

/// The device that a node is a half of: "box0/nic3" of "box0/nic_in3". Nothing where the name is no
/// half's.
[[nodiscard]] std::optional<std::string> device_of(std::string_view half);

/// The halves of every device whose two nodes are there and enabled, the way out first. Cost:
/// O(n log n).
[[nodiscard]] std::vector<std::pair<NodeId, NodeId>> device_halves(const Topology& topology);

/// Links to such devices: two of one way each, one to or from a half and one from or to the other
/// half, of one kind and with as many cables. The first in the topology comes first. `devices` are
/// `device_halves`. Cost: O(m log m) where there are devices.
[[nodiscard]] std::vector<std::pair<LinkId, LinkId>> device_links(
    const Topology& topology, const std::vector<std::pair<NodeId, NodeId>>& devices);

}  // namespace forestcoll::topology
