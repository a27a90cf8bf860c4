// Connections, and how one is cut into lanes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "schedule/msccl/messages.hpp"
#include "schedule/msccl/step_bounds.hpp"

namespace forestcoll::schedule {

using ConnectionId = Id<struct ConnectionTag>;

/// All messages of one stream and rail from one rank to another, in global order.
struct Connection {
  Rank src, dst;
  Rails::Rail rail;
  std::vector<MessageId> messages;
  /// Those whose messages are images of one another have one number, and follow one another; no two
  /// of them have the same sender or the same receiver.
  std::int32_t orbit = 0;
};

/// The connections in order of (src, dst, stream, rail), orbit by orbit: each where its first one
/// comes. Cost: O(messages · log).
[[nodiscard]] IdVector<ConnectionId, Connection> connect(
    const IdVector<MessageId, Message>& messages);

/// What one channel of a connection has to do.
struct LaneLoad {
  std::int64_t chunks = 0;
  std::int64_t send_steps = 0, recv_steps = 0;  // upper bounds
  std::int64_t largest = 0;                     // chunks of a message
  std::int32_t first = 0, last = 0;             // of the chains that its messages wait for
  /// How long one pass over the lane takes, in halves of what a chunk needs for one step. Nothing
  /// of the next pass begins before the last message of this one: its chunks one after the other,
  /// or what its last message waits for and its first one does not, whichever is more.
  std::int64_t period = 0;
};

/// What it carries, in global order: the work of one sending and one receiving threadblock.
struct Lane : LaneLoad {
  std::vector<MessageId> messages;
};

struct CutLimits {
  std::int64_t max_steps = 0;  ///< of a lane
  std::int32_t waiting = 0;    ///< how waiting counts: see `LowerOptions`
  /// Only lanes whose periods are shorter are of use.
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
};

/// Cuts a connection into `lanes` lanes, so that the longest period is short; none where that is
/// impossible within the limits. Cost: O(messages · (log + lanes)).
[[nodiscard]] std::optional<std::vector<Lane>> cut(const Connection& connection, std::size_t lanes,
                                                   const IdVector<MessageId, Message>& messages,
                                                   const StepBounds& bounds,
                                                   const CutLimits& limits);

/// The period of the slowest lane.
[[nodiscard]] std::int64_t slowest(std::span<const Lane> lanes);

}  // namespace forestcoll::schedule
