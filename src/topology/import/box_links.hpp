// The links of a machine that are no PCIe: NVLink and xGMI, between GPUs and to NVSwitches and
// POWER CPUs.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "topology/readers/context.hpp"
#include "topology/readers/links.hpp"
#include "topology/readers/machine.hpp"

namespace forestcoll::importing {

struct BoxLinks {
  std::vector<FlatLink> inside;                  ///< between GPUs, and between sockets
  std::vector<FlatLink> to_switches;             ///< from GPUs to NVSwitches and sockets
  std::vector<std::string> sockets;              ///< ids of the CPUs that NVLink leads to
  std::map<std::size_t, std::string> socket_of;  ///< the same by bridge
};

/// Warnings: I22 where the two ends of a link state different things, W05 where a GPU has fewer
/// links than most. Cost: O(links × log links).
[[nodiscard]] BoxLinks box_links(const Context& context, const Machine& machine);

}  // namespace forestcoll::importing
