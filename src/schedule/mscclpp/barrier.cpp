#include "schedule/mscclpp/barrier.hpp"

#include <algorithm>
#include <cstddef>

#include "schedule/mscclpp/blocks.hpp"

namespace forestcoll::schedule {
namespace {

constexpr std::size_t kMemory = static_cast<std::size_t>(PlanChannel::memory);

PlanOperation on_memory(PlanOperation::Kind kind, const std::vector<std::int32_t>& channels) {
  PlanOperation operation;
  operation.kind = kind;
  operation.channels = channels;
  return operation;
}

}  // namespace

Barrier::Barrier(std::span<const Rank> ranks, Rank own, PlanGpu& gpu, PlanThreadblock& block) {
  const auto place = static_cast<std::size_t>(std::ranges::find(ranks, own) - ranks.begin());
  const auto add = [&](std::size_t distance) {
    auto& peers = gpu.peers[kMemory];
    auto& channels = block.channels[kMemory];
    channels.push_back(static_cast<std::int32_t>(peers.size()));
    peers.push_back(ranks[(place + distance) % ranks.size()]);
    return static_cast<std::int32_t>(channels.size() - 1);
  };
  if (ranks.size() - 1 <= kMaxOperationChannels) {
    Round all;
    for (std::size_t distance = 1; distance < ranks.size(); ++distance)
      all.told.push_back(add(distance));
    all.heard = all.told;
    rounds_.push_back(all);
    return;
  }
  for (std::size_t distance = 1; distance < ranks.size(); distance *= 2) {
    const std::int32_t ahead = add(distance);
    const bool same = 2 * distance == ranks.size();
    rounds_.push_back({{ahead}, {same ? ahead : add(ranks.size() - distance)}});
  }
}

void Barrier::append(std::vector<PlanOperation>& operations) const {
  operations.emplace_back();  // all threads are there
  for (const Round& round : rounds_) {
    operations.push_back(on_memory(PlanOperation::Kind::signal, round.told));
    operations.push_back(on_memory(PlanOperation::Kind::wait, round.heard));
    operations.emplace_back();
  }
}

}  // namespace forestcoll::schedule
