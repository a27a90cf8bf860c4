// From a network back to a topology.
#pragma once

#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::test {

/// A topology of which `network` is the digraph, named "made": nodes n0, n1, …, and a link of one
/// direction for every arc. Switches can do what `roles` says, and nothing where it is empty.
Topology topology_of(const Network& network, const SwitchRoles& roles = {});

}  // namespace forestcoll::test
