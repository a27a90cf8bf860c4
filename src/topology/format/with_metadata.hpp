// Topology files whose metadata is JSON already.
#pragma once

#include <string>

#include "forestcoll/topology_text.hpp"

namespace forestcoll::topology {

/// `to_topology_json` with this metadata and these notes in place of the document's own metadata.
[[nodiscard]] std::string to_topology_json(const TopologyDocument& document,
                                           const Metadata& metadata);

}  // namespace forestcoll::topology
