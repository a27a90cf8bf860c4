#include "audit/common/group_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace forestcoll::audit {
namespace {

// The links of an access through one switch; empty where one is not there.
std::vector<ArcId> links_through(const Network& network, NodeId through, bool echoes,
                                 const GroupAccess& access) {
  std::vector<ArcId> links;
  const auto add = [&](std::int32_t rank, bool up) {
    const NodeId gpu = network.ranks[static_cast<std::size_t>(rank)];
    links.push_back(up ? network.graph.find(gpu, through) : network.graph.find(through, gpu));
  };
  add(access.rank, access.stores);
  for (const std::int32_t member : access.group) {
    if (member != access.rank || echoes) add(member, !access.stores);
  }
  if (std::ranges::all_of(links, &ArcId::valid)) return links;
  return {};
}

}  // namespace

std::vector<std::pair<ArcId, Ratio>> links_of_access(const Network& network,
                                                     const SwitchRoles& roles,
                                                     const GroupAccess& access) {
  struct ThroughSwitch {
    std::vector<ArcId> links;
    Capacity width = 0;
  };
  std::vector<ThroughSwitch> all;
  Capacity total = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const SwitchRole& role = roles[NodeId(i)];
    if (access.stores ? !role.copies : !role.combines) continue;
    ThroughSwitch through{links_through(network, NodeId(i), role.echoes, access),
                          std::numeric_limits<Capacity>::max()};
    if (through.links.empty()) continue;
    for (const ArcId link : through.links) {
      through.width = std::min(through.width, network.capacity[link]);
    }
    total += through.width;
    all.push_back(std::move(through));
  }
  std::vector<std::pair<ArcId, Ratio>> parts;
  for (const ThroughSwitch& through : all) {
    for (const ArcId link : through.links) parts.emplace_back(link, Ratio(through.width, total));
  }
  return parts;
}

std::string to_string(const GroupAccess& access) {
  return fmt::format("{} {} ranks", access.stores ? "stores at" : "reads the sum of",
                     access.group.size());
}

}  // namespace forestcoll::audit
