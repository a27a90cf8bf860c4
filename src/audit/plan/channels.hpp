// How an execution plan numbers its channels.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "audit/plan/file.hpp"

namespace forestcoll::audit {

/// Whom channel `place` of that kind in the threadblock's list leads to, and which of the rank's
/// channels to it that is. REQUIRES: its peers are ranks.
struct PlanPeer {
  std::int32_t rank = -1;
  std::int32_t ordinal = 0;  ///< among the channels of this kind between the two
  std::int32_t channel = 0;  ///< among the rank's channels of this kind
};
/// All channels of one kind of a GPU, in the order in which they are numbered.
[[nodiscard]] std::vector<PlanPeer> peers_of(const PlanGpu& gpu, ChannelKind kind);
/// Where the programs of some ranks stand for those of all: of the rank's channel of that kind and
/// number, the name of this end of it, and that of the end that its other one is an image of.
using ChannelEnds = std::function<std::pair<std::int32_t, std::int32_t>(
    ChannelKind kind, std::int32_t rank, std::int32_t channel)>;
/// A switch channel of a GPU: one buffer of every rank of the group.
struct PlanGroup {
  Buffer buffer = Buffer::input;
  std::vector<std::int64_t> ranks;
};
/// All switch channels of a GPU, in the order in which they are numbered.
[[nodiscard]] std::vector<PlanGroup> groups_of(const PlanGpu& gpu);

/// The ids that a threadblock lists for a kind, in order.
[[nodiscard]] std::vector<std::int64_t> ids_of(const std::vector<PlanChannels>& lists,
                                               ChannelKind kind);

}  // namespace forestcoll::audit
