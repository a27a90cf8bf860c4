// Fabrics whose switches copy and combine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::testing {

inline constexpr SwitchRole kEchoing = {true, true, true}, kSharp = {true, true, false};

/// Boxes of GPUs with their switches, and those of the rails between them.
struct Cluster {
  Network network;
  std::vector<NodeId> nvswitches, rails;

  [[nodiscard]] SwitchRoles roles(SwitchRole of_box, SwitchRole of_rail) const {
    SwitchRoles roles(network.graph.node_count());
    for (const NodeId w : nvswitches) roles[w] = of_box;
    for (const NodeId w : rails) roles[w] = of_rail;
    return roles;
  }
};

// Boxes of GPUs at 450 GB/s, each with a NIC of 50 GB/s to the switch of odd or of even GPUs.
inline Cluster h100(std::size_t boxes, std::size_t gpus = 8, Capacity nvlink = 450) {
  test::FabricBuilder fabric(boxes * gpus);
  Cluster cluster;
  if (boxes > 1) cluster.rails = {NodeId(fabric.add_switch()), NodeId(fabric.add_switch())};
  for (std::size_t box = 0; box < boxes; ++box) {
    const std::size_t nvswitch = fabric.add_switch();
    cluster.nvswitches.emplace_back(nvswitch);
    for (std::size_t i = 0; i < gpus; ++i) {
      const std::size_t gpu = box * gpus + i;
      fabric.link(gpu, nvswitch, nvlink);
      if (boxes == 1) continue;
      const std::size_t nic = fabric.add_switch();
      fabric.link(gpu, nic, 50);
      fabric.link(nic, cluster.rails[gpu % 2].index(), 50);
    }
  }
  cluster.network = fabric.build();
  return cluster;
}

/// What most switches can do, by chance.
inline SwitchRoles random_roles(const Network& network, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  SwitchRoles roles(network.graph.node_count());
  for (std::size_t v = 0; v < roles.size(); ++v) {
    if (network.is_compute(NodeId(v))) continue;
    roles[NodeId(v)] = {random() % 4 != 0, random() % 4 != 0, random() % 2 == 0};
  }
  return roles;
}

}  // namespace forestcoll::testing
