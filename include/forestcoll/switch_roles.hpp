// What switches can do with data that passes through them.
#pragma once

#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

struct SwitchRole {
  bool copies = false;    ///< repeats what comes in on any of its links
  bool combines = false;  ///< adds up what comes in
  /// What a GPU on it sends to be copied comes back to the GPU as well; what a GPU on it reads
  /// combined takes the GPU's own part over its link, too.
  bool echoes = false;

  /// Where a sum may be completed and spread again without a GPU. A switch that echoes cannot:
  /// there it is a GPU that reads the sum, or stores what is copied.
  [[nodiscard]] bool is_root() const { return copies && combines && !echoes; }
  bool operator==(const SwitchRole&) const = default;
};

/// By node; empty where no switch does either.
using SwitchRoles = IdVector<NodeId, SwitchRole>;

/// Of the enabled switches, as the topology has them. Cost: O(nodes).
[[nodiscard]] SwitchRoles switch_roles(const Topology& topology);

}  // namespace forestcoll
