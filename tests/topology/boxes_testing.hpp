// The boxes of a topology, for tests.
#pragma once

#include <map>
#include <set>
#include <string>

#include "forestcoll/topology.hpp"

namespace forestcoll::testing {

/// Ids of nodes, by box.
using Boxes = std::map<std::string, std::set<std::string>>;

inline Boxes boxes_of(const Topology& topology) {
  Boxes boxes;
  for (const TopologyNode& node : topology.nodes) {
    if (!node.box.empty()) boxes[node.box].insert(node.id);
  }
  return boxes;
}

}  // namespace forestcoll::testing
