// Parts of a fabric that its symmetries map onto one another.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::solver {

/// Classes of what is alike: every enabled part stands in one class, in the order of the topology.
struct AlikeParts {
  std::vector<std::vector<LinkId>> links;  ///< as wide, as duplex, of the same kind and count, too
  std::vector<std::vector<NodeId>> nodes;
  std::vector<std::vector<std::string>> boxes;  ///< by name; nodes without a box are in none
  std::vector<std::vector<std::size_t>> pairs;  ///< of those that were given
  /// Of those that were given, likewise: as wide both ways, of the same kind and count.
  std::vector<std::vector<std::size_t>> joint_links;
};

/// Parts that count as one.
struct JointParts {
  std::vector<std::pair<NodeId, NodeId>> nodes;
  std::vector<std::pair<LinkId, LinkId>> links;  ///< one way each
};

/// By the automorphisms that `find_symmetries` finds and that keep the roles of switches and what
/// links share. Each of them was checked on every arc, so parts of one class are truly alike; parts
/// that are alike may stand in several classes. `network` is the topology's. Cost: that of
/// `find_symmetries`, and O(m log m) per generator.
[[nodiscard]] AlikeParts alike_parts(const Topology& topology, const Network& network,
                                     const Weights& weights, const JointParts& joint = {});

}  // namespace forestcoll::solver
