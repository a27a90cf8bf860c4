#include <algorithm>

#include "forestcoll/topology.hpp"

namespace forestcoll {

SwitchRoles switch_roles(const Topology& topology) {
  const auto is_able = [](const TopologyNode& node) {
    return node.enabled && (node.multicast || node.reduce);
  };
  if (std::ranges::none_of(topology.nodes, is_able)) return {};
  SwitchRoles roles;
  for (const TopologyNode& node : topology.nodes) {
    roles.push_back(is_able(node) ? SwitchRole{node.multicast, node.reduce, node.echo}
                                  : SwitchRole());
  }
  return roles;
}

}  // namespace forestcoll
