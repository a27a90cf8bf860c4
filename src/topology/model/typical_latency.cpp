#include "topology/model/typical_latency.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

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

// By hop, in halves: what a link has of the switches that a message crosses. A switch belongs to
// the link before it and to the one behind it; the single switch stands for three.
constexpr std::array<std::int64_t, 4> kHalfSwitches = {3, 1, 2, 0};
constexpr std::array kInfinibandNs = {kSingleSwitchNs, kLeafNs, kUplinkNs, kBetweenNicsNs};

Ratio micros(std::int64_t ns) {
  return {ns, 1000};
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
  const auto at = static_cast<std::size_t>(hop);
  const std::int64_t slower =
      medium == Medium::ethernet ? kHalfSwitches[at] * kEthernetSwitchNs / 2 : 0;
  return micros(kInfinibandNs[at] + slower + gpus * kPcieNs);
}

}  // namespace forestcoll::topology
