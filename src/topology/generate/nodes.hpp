// Nodes that generators make.
#pragma once

#include <string>
#include <utility>

#include "forestcoll/topology_text.hpp"

namespace forestcoll::topology {

[[nodiscard]] inline NodeText switches(std::string ids) {
  return {.ids = std::move(ids), .type = NodeType::switch_node};
}

}  // namespace forestcoll::topology
