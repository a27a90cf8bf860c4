// A fingerprint of what a topology says.
#pragma once

#include <cstdint>

#include "forestcoll/topology.hpp"

namespace forestcoll::emit {

/// FNV-1a, 64 bits, of the expanded nodes, links and rank order; names of the topology and of kinds
/// of links, and the description, left out. Equal on every machine.
[[nodiscard]] std::uint64_t topology_hash(const Topology& topology);

}  // namespace forestcoll::emit
