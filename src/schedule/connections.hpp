// Connections, and how one is cut into lanes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/messages.hpp"
#include "schedule/step_bounds.hpp"

namespace forestcoll::schedule {

using ConnectionId = Id<struct ConnectionTag>;

/// All messages of one stream and rail from one rank to another, in global order.
struct Connection {
  Rank src, dst;
  Rails::Rail rail;
  std::vector<MessageId> messages;
};

/// The connections in order of (src, dst, stream, rail). Cost: O(messages · log).
[[nodiscard]] IdVector<ConnectionId, Connection> connect(
    const IdVector<MessageId, Message>& messages);

/// What one channel of a connection carries, in global order: the work of one sending and one
/// receiving threadblock.
struct Lane {
  std::vector<MessageId> messages;
  std::int64_t chunks = 0;
  std::int64_t send_steps = 0, recv_steps = 0;  // upper bounds
};

/// Cuts a connection into `lanes` lanes with about the same number of chunks and no more than
/// `max_steps` steps; none where that fails. Cost: O(messages · (log + lanes)).
[[nodiscard]] std::optional<std::vector<Lane>> cut(const Connection& connection, std::size_t lanes,
                                                   const IdVector<MessageId, Message>& messages,
                                                   const StepBounds& bounds,
                                                   std::int64_t max_steps);

/// The chunks of the fullest lane.
[[nodiscard]] std::int64_t fullest(std::span<const Lane> lanes);

}  // namespace forestcoll::schedule
