#include "schedule/mscclpp/block_builder.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "schedule/mscclpp/blocks.hpp"

namespace forestcoll::schedule {

BlockChannel BlockBuilder::channel_to(Rank peer, std::int32_t number) {
  const PlanChannel kind = kind_between(box_of_, rank_, peer);
  const auto [known, added] = channels_.try_emplace({peer, number}, BlockChannel(kind, 0));
  if (added) {
    auto& peers = gpu_.peers[static_cast<std::size_t>(kind)];
    auto& own = block.channels[static_cast<std::size_t>(kind)];
    known->second.second = static_cast<std::int32_t>(own.size());
    own.push_back(static_cast<std::int32_t>(peers.size()));
    peers.push_back(peer);
  }
  return known->second;
}

// The remote buffer's number in the threadblock's list.
std::int32_t BlockBuilder::remote(Rank peer, Buffer buffer) {
  const PlanChannel kind = kind_between(box_of_, rank_, peer);
  auto& own = block.remote_buffers[static_cast<std::size_t>(kind)];
  const auto [known, added] = remotes_.try_emplace({peer, buffer}, 0);
  if (!added) return known->second;
  const auto same = [&](const PlanRemoteBuffer& each) {
    return each.rank == peer && each.buffer == buffer;
  };
  auto& all = gpu_.remote_buffers;
  auto at = std::find_if(all.begin(), all.end(), same);
  if (at == all.end()) at = all.insert(all.end(), {peer, buffer, kind});
  known->second = static_cast<std::int32_t>(own.size());
  own.push_back(static_cast<std::int32_t>(at - all.begin()));
  return known->second;
}

void BlockBuilder::send(std::span<const Shipment> shipments) {
  // A put takes its sources from one buffer, and goes through one kind of channel.
  std::map<std::pair<PlanChannel, Buffer>, PlanOperation> puts;
  std::vector<BlockChannel> told;
  for (const Shipment& each : shipments) {
    const BlockChannel via = channel_to(each.to, each.block);
    PlanOperation& put = puts[{via.first, each.from.buffer}];
    put.kind = PlanOperation::Kind::put;
    put.channel = via.first;
    if (via.first == PlanChannel::port) put.channels.push_back(via.second);
    put.sources.push_back(local_slice(each.from));
    put.destinations.push_back({each.at.buffer, remote(each.to, each.at.buffer), each.at.index});
    told.push_back(via);
    if (put.sources.size() == kMaxOperationChannels) {
      block.loop.push_back(std::move(put));
      put = {};
    }
  }
  for (auto& [key, put] : puts) {
    if (!put.sources.empty()) block.loop.push_back(std::move(put));
  }
  block.loop.emplace_back();
  append_on_channels(PlanOperation::Kind::signal, std::move(told), block.loop);
}

void append_on_channels(PlanOperation::Kind kind, std::vector<BlockChannel> channels,
                        std::vector<PlanOperation>& out) {
  std::ranges::stable_sort(channels, {}, &BlockChannel::first);
  std::set<BlockChannel> used;
  std::optional<PlanChannel> open;  // the kind of the last operation here
  for (const BlockChannel& channel : channels) {
    if (!used.insert(channel).second) continue;
    if (open != channel.first || out.back().channels.size() == kMaxOperationChannels) {
      PlanOperation& next = out.emplace_back();
      next.kind = kind;
      next.channel = channel.first;
      open = channel.first;
    }
    out.back().channels.push_back(channel.second);
  }
}

std::vector<BlockChannel> ports_among(std::vector<BlockChannel> channels) {
  std::erase_if(channels, [](const BlockChannel& each) { return each.first != PlanChannel::port; });
  return channels;
}

}  // namespace forestcoll::schedule
