// A PCIe graph as nodes and links of a template.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "forestcoll/topology_text.hpp"
#include "topology/import/box.hpp"
#include "topology/import/pcie.hpp"
#include "topology/readers/links.hpp"
#include "topology/readers/machine.hpp"

namespace forestcoll::importing {

/// Adds the graph's bridges and NICs to `section`, its edges to `links`, and the ids of each NIC to
/// `ports`. With `p2p` every edge leads both ways, so that GPUs reach each other; without, GPUs
/// reach NICs and NICs reach GPUs alone. CPUs that NVLink leads to are nodes of their own
/// (`socket_of`, by bridge), and a limit holds what PCIe and NVLink send over one link between
/// CPUs. Cost: O(edges × log edges).
void add_pcie_nodes(const Machine& machine, PcieGraph graph, bool p2p,
                    const std::map<std::size_t, std::string>& socket_of, SectionText& section,
                    std::vector<FlatLink>& links, std::vector<NicPort>& ports);

}  // namespace forestcoll::importing
