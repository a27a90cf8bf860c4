// Topologies and fabrics by name, as text, or of a digraph.
#pragma once

#include <map>
#include <string>

#include "forestcoll/fabric.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::test {

/// A topology of which `network` is the digraph, named "made": nodes n0, n1, …, a link of one
/// direction for every arc, and its limits. Switches do what `roles` says, nothing if it is empty.
Topology topology_of(const Network& network, const SwitchRoles& roles = {});

/// What `topo gen` writes for a generator and its options, read again. Fails the test where it is
/// refused.
Topology generated_topology(const std::string& name,
                            const std::map<std::string, std::string>& values = {});

/// The fabric of a topology file's text, and of a bundled one. Fails the test where it is refused.
Fabric fabric_of(const std::string& text);
Fabric bundled_fabric(const std::string& name);
/// Parts of that one.
Topology bundled_topology(const std::string& name);
Network bundled_network(const std::string& name);

}  // namespace forestcoll::test
