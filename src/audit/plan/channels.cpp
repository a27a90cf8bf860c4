#include "audit/plan/channels.hpp"

#include <map>

namespace forestcoll::audit {

std::vector<PlanPeer> peers_of(const PlanGpu& gpu, ChannelKind kind) {
  std::vector<PlanPeer> peers;
  std::map<std::int64_t, std::int32_t> count;
  for (const PlanChannels& list : gpu.channels) {
    if (list.kind != kind) continue;
    for (const std::int64_t peer : list.ids) {
      peers.push_back({static_cast<std::int32_t>(peer), count[peer]++,
                       static_cast<std::int32_t>(peers.size())});
    }
  }
  return peers;
}

std::vector<PlanGroup> groups_of(const PlanGpu& gpu) {
  std::vector<PlanGroup> groups;
  for (const PlanChannels& list : gpu.channels) {
    if (list.kind != ChannelKind::switched) continue;
    for (const auto& ranks : list.groups) groups.push_back({list.buffer, ranks});
  }
  return groups;
}

std::vector<std::int64_t> ids_of(const std::vector<PlanChannels>& lists, ChannelKind kind) {
  std::vector<std::int64_t> ids;
  for (const PlanChannels& list : lists) {
    if (list.kind == kind) ids.insert(ids.end(), list.ids.begin(), list.ids.end());
  }
  return ids;
}

}  // namespace forestcoll::audit
