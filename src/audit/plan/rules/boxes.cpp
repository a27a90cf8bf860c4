#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "audit/plan/channels.hpp"
#include "audit/plan/rules/rules.hpp"

namespace forestcoll::audit {
namespace {

class PlanBoxes {
 public:
  PlanBoxes(const PlanFile& plan, const Topology& topology, Findings& findings)
      : plan_(plan), topology_(topology), findings_(findings) {}

  void run() {
    count(&PlanBoxes::channels_across, "memory channels lead to another box",
          "memory channels end with the box", "use port channels between boxes");
    count(&PlanBoxes::buffers_across, "remote buffers are reached by memory in another box",
          "memory channels end with the box", "use port channels between boxes");
    count(&PlanBoxes::groups_across, "switch channels reach over boxes",
          "multicast ends with the box", "give each box its groups");
  }

 private:
  using Pair = std::pair<std::size_t, std::int64_t>;  // rank, and one in another box
  using Across = void (PlanBoxes::*)(std::size_t rank, std::vector<Pair>& across) const;

  [[nodiscard]] const std::string& box_of(std::int64_t rank) const {
    return topology_.nodes[topology_.ranks[static_cast<std::size_t>(rank)]].box;
  }
  [[nodiscard]] bool apart(std::size_t rank, std::int64_t other) const {
    const std::string& here = box_of(static_cast<std::int64_t>(rank));
    const std::string& there = box_of(other);
    return !here.empty() && !there.empty() && here != there;
  }

  void channels_across(std::size_t rank, std::vector<Pair>& across) const {
    for (const PlanPeer& peer : peers_of(plan_.gpus[rank], ChannelKind::memory)) {
      if (apart(rank, peer.rank)) across.emplace_back(rank, peer.rank);
    }
  }
  void buffers_across(std::size_t rank, std::vector<Pair>& across) const {
    for (const PlanRemoteBuffer& buffer : plan_.gpus[rank].remote_buffers) {
      if (buffer.memory && apart(rank, buffer.rank)) across.emplace_back(rank, buffer.rank);
    }
  }
  void groups_across(std::size_t rank, std::vector<Pair>& across) const {
    for (const PlanGroup& group : groups_of(plan_.gpus[rank])) {
      for (const std::int64_t other : group.ranks) {
        if (!apart(rank, other)) continue;
        across.emplace_back(rank, other);
        break;
      }
    }
  }

  // One finding for all of a kind, at the first.
  void count(Across find, std::string_view what, std::string_view why, std::string_view remedy) {
    std::vector<Pair> across;
    for (std::size_t r = 0; r < plan_.gpus.size(); ++r) (this->*find)(r, across);
    if (across.empty()) return;
    const auto& [rank, other] = across.front();
    findings_.add(
        Rule::fabric, Place{static_cast<std::int32_t>(rank), -1, -1, 0, {}},
        fmt::format("{} {}: the first from box {} to rank {} in box {}; {}", across.size(), what,
                    box_of(static_cast<std::int64_t>(rank)), other, box_of(other), why),
        fmt::format("{}, or name the boxes as they are (\"box\" of the topology's nodes)", remedy));
  }

  const PlanFile& plan_;
  const Topology& topology_;
  Findings& findings_;
};

}  // namespace

void check_plan_boxes(const PlanFile& plan, const Topology& topology, Findings& findings) {
  PlanBoxes(plan, topology, findings).run();
}

}  // namespace forestcoll::audit
