#include "audit/plan_boxes.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>

#include "audit/plan_channels.hpp"

namespace forestcoll::audit {

void check_plan_boxes(const PlanFile& plan, const Topology& topology, Findings& findings) {
  const auto box_of = [&](std::size_t rank) -> const std::string& {
    return topology.nodes[topology.ranks[rank]].box;
  };
  for (std::size_t r = 0; r < plan.gpus.size(); ++r) {
    std::set<std::int64_t> reached;
    for (const PlanPeer& peer : peers_of(plan.gpus[r], ChannelKind::memory)) {
      reached.insert(peer.rank);
    }
    for (const PlanRemoteBuffer& buffer : plan.gpus[r].remote_buffers) {
      if (buffer.memory) reached.insert(buffer.rank);
    }
    for (const std::int64_t peer : reached) {
      const std::string& here = box_of(r);
      const std::string& there = box_of(static_cast<std::size_t>(peer));
      if (here.empty() || there.empty() || here == there) continue;
      findings.add(Code::fabric, Place{static_cast<std::int32_t>(r), -1, -1, 0, {}},
                   fmt::format("a memory channel from box {} to rank {} in box {}: memory channels "
                               "end with the box",
                               here, peer, there),
                   "use a port channel between boxes, or name the boxes as they are (\"box\" of "
                   "the topology's nodes)");
    }
  }
}

}  // namespace forestcoll::audit
