// Typical latencies of links: what generated fabrics are written with, and what links count that a
// file gives no latency. docs/file-format.md has the sources.
#pragma once

#include "forestcoll/ratio.hpp"
#include "topology/model/link_kind.hpp"

namespace forestcoll::topology {

/// Between which parts of a network a link runs. A switch without links to other switches stands
/// for the whole network: leaf, spine and leaf.
enum class NetworkHop {
  to_single_switch,  ///< from a NIC to the only switch
  to_leaf,           ///< from a NIC to a switch that is linked to others
  between_switches,
  between_nics,  ///< a cable without a switch
};

/// µs, one way, of a link within a box. REQUIRES: such a medium, and not PCIe.
[[nodiscard]] Ratio box_latency(Medium medium);
/// µs, one way, of a PCIe link: from a GPU to its NIC, or one of the two through a bridge between.
[[nodiscard]] Ratio pcie_latency(bool at_bridge);
/// µs, one way, of a network's link. `gpus`: how many of its ends are GPUs, where it stands for the
/// way to the NIC as well. Any medium but Ethernet counts as InfiniBand.
[[nodiscard]] Ratio network_latency(Medium medium, NetworkHop hop, int gpus);

}  // namespace forestcoll::topology
