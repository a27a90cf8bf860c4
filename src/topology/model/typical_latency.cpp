#include "topology/model/typical_latency.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::int64_t kNvlinkNs = 700;
constexpr std::int64_t kXgmiNs = 500;
constexpr std::int64_t kCpuNs = 250;
constexpr std::int64_t kPcieNs = 500, kPcieAtBridgeNs = kPcieNs / 2;
constexpr std::int64_t kLeafNs = 1000, kUplinkNs = 500;
// A message that crosses leaf, spine and leaf takes as long as one that crosses a single switch.
constexpr std::int64_t kSingleSwitchNs = kLeafNs + kUplinkNs;
// The way without a switch: two NICs and a cable.
constexpr std::int64_t kBetweenNicsNs = 1500;
// An Ethernet switch takes so much longer than one of InfiniBand.
constexpr std::int64_t kEthernetSwitchNs = 400;

Ratio micros(std::int64_t ns) {
  return {ns, 1000};
}

// What a link has of the switches that a message crosses, in halves: a switch belongs to the link
// before it and to the one behind it. The single switch stands for three.
std::int64_t half_switches(NetworkHop hop) {
  switch (hop) {
    case NetworkHop::to_single_switch:
      return 3;
    case NetworkHop::to_leaf:
      return 1;
    case NetworkHop::between_switches:
      return 2;
    case NetworkHop::between_nics:
      break;
  }
  return 0;
}

std::int64_t infiniband(NetworkHop hop) {
  switch (hop) {
    case NetworkHop::to_single_switch:
      return kSingleSwitchNs;
    case NetworkHop::to_leaf:
      return kLeafNs;
    case NetworkHop::between_switches:
      return kUplinkNs;
    case NetworkHop::between_nics:
      break;
  }
  return kBetweenNicsNs;
}

}  // namespace

Ratio box_latency(Medium medium) {
  if (medium == Medium::xgmi) return micros(kXgmiNs);
  return micros(medium == Medium::cpu ? kCpuNs : kNvlinkNs);
}

Ratio pcie_latency(bool at_bridge) {
  return micros(at_bridge ? kPcieAtBridgeNs : kPcieNs);
}

Ratio network_latency(Medium medium, NetworkHop hop, int gpus) {
  const std::int64_t slower =
      medium == Medium::ethernet ? half_switches(hop) * kEthernetSwitchNs / 2 : 0;
  return micros(infiniband(hop) + slower + gpus * kPcieNs);
}

}  // namespace forestcoll::topology
