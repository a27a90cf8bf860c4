// A threadblock of a plan in the making: its channels, the buffers of others that it writes to, and
// what it puts there.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "forestcoll/id.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::schedule {

/// Memory channels within a box, port channels between two, and between ranks of no box.
[[nodiscard]] inline PlanChannel kind_between(const IdVector<Rank, std::int32_t>& box_of, Rank a,
                                              Rank b) {
  return box_of[a] >= 0 && box_of[a] == box_of[b] ? PlanChannel::memory : PlanChannel::port;
}

/// A place in some rank's memory, in chunks.
struct Location {
  Buffer buffer = Buffer::input;
  std::int64_t index = 0;
};

/// What a rank writes into another's memory.
struct Shipment {
  Rank to;
  Location from, at;
  std::int32_t block = 0;  ///< of its threadblocks of the same number, the one that is told
};

/// A channel of a threadblock: its kind, and its number among those of the kind.
using BlockChannel = std::pair<PlanChannel, std::int32_t>;

/// REQUIRES: where threadblocks of one number of two ranks write to each other, both name each
/// other, in the same order: the n-th channel at one end then leads to the n-th at the other.
class BlockBuilder {
 public:
  /// `box_of` and `gpu` must outlive this; `gpu` gets what the threadblock is the first to need.
  BlockBuilder(const IdVector<Rank, std::int32_t>& box_of, Rank rank, PlanGpu& gpu)
      : box_of_(box_of), rank_(rank), gpu_(gpu) {}

  PlanThreadblock block;

  /// The one channel to that rank's threadblock of the same number, the first or second of them.
  BlockChannel channel_to(Rank peer, std::int32_t block = 0);
  /// By peer and its threadblock.
  [[nodiscard]] const std::map<std::pair<Rank, std::int32_t>, BlockChannel>& channels() const {
    return channels_;
  }

  /// Puts all of it, then tells those who get it. Appends to the loop.
  void send(std::span<const Shipment> shipments);

 private:
  std::int32_t remote(Rank peer, Buffer buffer);

  const IdVector<Rank, std::int32_t>& box_of_;
  Rank rank_;
  PlanGpu& gpu_;
  std::map<std::pair<Rank, std::int32_t>, BlockChannel> channels_;
  std::map<std::pair<Rank, Buffer>, std::int32_t> remotes_;
};

/// A slice of the rank's own memory.
[[nodiscard]] inline PlanSlice local_slice(Location at) {
  return {at.buffer, -1, at.index};
}

/// One operation on each of these channels, once, by kind of channel, each kind in their order.
void append_on_channels(PlanOperation::Kind kind, std::vector<BlockChannel> channels,
                        std::vector<PlanOperation>& out);

/// Those that a proxy serves.
[[nodiscard]] std::vector<BlockChannel> ports_among(std::vector<BlockChannel> channels);

}  // namespace forestcoll::schedule
