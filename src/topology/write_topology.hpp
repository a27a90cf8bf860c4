// Topology files whose metadata is JSON already.
#pragma once

#include <string>
#include <string_view>

#include "forestcoll/topology_text.hpp"

namespace forestcoll::topology {

/// `to_topology_json` with this value of `metadata` in place of the document's own; empty: none.
[[nodiscard]] std::string to_topology_json(const TopologyDocument& document,
                                           std::string_view metadata);

}  // namespace forestcoll::topology
