// Some operations do not do in the executor what they are called: a `get` swaps its two offsets, a
// `pws` or `pwsf` on a memory channel never signals, a `flush` counts its destinations instead of
// its channels. Plans that would trip over these are refused, here and in operands.cpp.
#include "audit/plan/rules/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/plan/channels.hpp"
#include "audit/plan/groups.hpp"
#include "audit/plan/kinds.hpp"
#include "audit/plan/rules/rules.hpp"

namespace forestcoll::audit {

void PlanOperations::check(std::size_t t, std::size_t i) {
  const PlanOp& op = gpu().threadblocks[t].ops[i];
  const Place place = plan_place(rank_, t, i);
  check_group_part(op, place, findings_);
  limit(place, op.channels.size(), kMaxPlanOpChannels, "channels in one operation");
  limit(place, op.sources.size(), kMaxPlanOpBuffers, "sources in one operation");
  limit(place, op.destinations.size(), kMaxPlanOpBuffers, "destinations in one operation");
  switch (op.kind) {
    case PlanKind::nop:
      return;
    case PlanKind::barrier:
      return check_barrier(op, place);
    case PlanKind::acquire:
    case PlanKind::release:
      return check_semaphores(op, place);
    case PlanKind::signal:
    case PlanKind::wait:
    case PlanKind::flush:
      return check_control(t, i, place);
    case PlanKind::pipeline:
      return check_pipeline(t, i);
    case PlanKind::other:
      add(Rule::unsupported, place,
          fmt::format("the executor has no operation \"{}\" and refuses the plan", op.name),
          op.name == "glre" ? "store the sum at all ranks of a group, with glres" : "");
      return;
    default:
      check_operands(plan_, rank_, t, i, findings_);
      check_put_channels(t, op, place);
  }
}

void PlanOperations::check_barrier(const PlanOp& op, const Place& place) {
  if (op.barrier < 0 || op.barrier >= kMaxPlanBarriers) {
    add(Rule::dependency, place,
        fmt::format("barrier_id: expected 0 to {}, found {}", kMaxPlanBarriers - 1, op.barrier));
  }
  const auto blocks = std::ssize(gpu().threadblocks);
  if (op.participants < 1 || op.participants > blocks) {
    add(Rule::dependency, place,
        fmt::format("num_threadblocks: expected 1 to {}, found {}", blocks, op.participants));
  }
}

void PlanOperations::check_semaphores(const PlanOp& op, const Place& place) {
  const auto known = std::ssize(gpu().semaphores);
  limit(place, op.semaphores.size(), kMaxPlanOpSemaphores, "semaphores in one operation");
  if (op.semaphores.empty()) add(Rule::attribute, place, op.name + " names no semaphore");
  for (const std::int64_t id : op.semaphores) {
    if (id >= 0 && id < known) continue;
    add(Rule::dependency, place,
        fmt::format("semaphore {}, but the GPU has {}", id, gpu().semaphores.size()));
  }
}

void PlanOperations::check_control(std::size_t t, std::size_t i, const Place& place) {
  const PlanOp& op = gpu().threadblocks[t].ops[i];
  if (op.channel_kind != ChannelKind::memory && op.channel_kind != ChannelKind::port) {
    add(Rule::attribute, place, op.name + " needs channel_type memory or port");
    return;
  }
  if (op.kind == PlanKind::flush) {
    if (op.channel_kind != ChannelKind::port) {
      add(Rule::unsupported, place, "flush is for port channels");
    }
    check_operands(plan_, rank_, t, i, findings_);
  }
  if (op.channels.empty()) add(Rule::attribute, place, op.name + " names no channel");
  check_channels(t, op, place, op.kind == PlanKind::wait ? "waits" : "signals");
}

// Counters of a channel are not made for several threadblocks.
void PlanOperations::check_channels(std::size_t t, const PlanOp& op, const Place& place,
                                    std::string_view use) {
  const auto list = ids_of(gpu().threadblocks[t].channels, op.channel_kind);
  std::set<std::int64_t> seen;
  for (const std::int64_t id : op.channels) {
    if (!check_channel(list, id, op, place)) continue;
    const std::int64_t channel = list[static_cast<std::size_t>(id)];
    // Puts are handed to a proxy one by one; counters are not.
    if (!seen.insert(channel).second && op.kind != PlanKind::put && !has_packets(op.kind)) {
      add(Rule::connection, place, fmt::format("channel {} stands twice", id));
    }
    const auto [user, added] = users_.try_emplace({op.channel_kind, use == "waits", channel}, t);
    if (!added && user->second != t) {
      add(Rule::connection, place,
          fmt::format("{} channel {} of the rank also {} in threadblock {}: its counter is not "
                      "made for two",
                      to_string(op.channel_kind), channel, use, user->second),
          "give each threadblock a channel of its own");
    }
  }
}

void PlanOperations::check_pipeline(std::size_t t, std::size_t i) {
  const auto& ops = gpu().threadblocks[t].ops;
  const PlanOp& op = ops[i];
  const Place place = plan_place(rank_, t, i);
  if (op.unit_size < 1 || op.unit_size > (std::int64_t{1} << 31) ||
      (plan_.alignment > 0 && op.unit_size % plan_.alignment != 0)) {
    add(Rule::attribute, place,
        fmt::format("unit_size: expected a multiple of {} up to 2 GiB, found {}", plan_.alignment,
                    op.unit_size));
  }
  if (op.loop_chunks < 1 || op.loop_chunks > kMaxPlanChunks) {
    add(Rule::attribute, place,
        fmt::format("num_chunks: expected at least 1, found {}", op.loop_chunks));
  }
  if (op.loop >= 0) add(Rule::unsupported, place, "a pipeline within a pipeline");
  if (i + 1 == ops.size() || ops[i + 1].loop != static_cast<std::int32_t>(i)) {
    add(Rule::attribute, place, "a pipeline without operations");
  }
}

// A put through a port is handed to a channel. One through memory is told where to write by its
// buffers alone; channels that it names are not looked at, but a wrong one tells of a wrong plan.
void PlanOperations::check_put_channels(std::size_t t, const PlanOp& op, const Place& place) {
  if (op.channel_kind != ChannelKind::port) {
    const auto list = ids_of(gpu().threadblocks[t].channels, op.channel_kind);
    for (const std::int64_t id : op.channels) check_channel(list, id, op, place);
    return;
  }
  if (op.channels.size() != op.destinations.size()) {
    add(Rule::connection, place, "a put through port channels names one for each destination");
  }
  check_channels(t, op, place, "signals");
  check_ends(t, op, place);
}

// The other end of the channel is where the destination must lie.
void PlanOperations::check_ends(std::size_t t, const PlanOp& op, const Place& place) {
  const PlanThreadblock& tb = gpu().threadblocks[t];
  const auto channels = ids_of(tb.channels, ChannelKind::port);
  const auto buffers = ids_of(tb.remote_buffers, ChannelKind::port);
  const auto peers = peers_of(gpu(), ChannelKind::port);
  const auto at = [](const auto& list, std::int64_t i) {
    return i < 0 || i >= std::ssize(list) ? nullptr : &list[static_cast<std::size_t>(i)];
  };
  for (std::size_t e = 0; e < std::min(op.channels.size(), op.destinations.size()); ++e) {
    const std::int64_t* channel = at(channels, op.channels[e]);
    const std::int64_t* buffer = at(buffers, op.destinations[e].remote);
    const PlanPeer* peer = channel == nullptr ? nullptr : at(peers, *channel);
    const PlanRemoteBuffer* end = buffer == nullptr ? nullptr : at(gpu().remote_buffers, *buffer);
    if (peer == nullptr || end == nullptr || peer->rank == end->rank) continue;
    add(Rule::connection, place,
        fmt::format("puts through a channel to rank {} into a buffer of rank {}", peer->rank,
                    end->rank));
  }
}

bool PlanOperations::check_channel(const std::vector<std::int64_t>& list, std::int64_t id,
                                   const PlanOp& op, const Place& place) {
  if (id >= 0 && id < std::ssize(list)) return true;
  add(Rule::connection, place,
      fmt::format("{} channel {}, but the threadblock lists {}", to_string(op.channel_kind), id,
                  list.size()));
  return false;
}

void PlanOperations::limit(const Place& place, std::size_t number, std::size_t most,
                           std::string_view what) {
  if (number <= most) return;
  add(Rule::limit, place, fmt::format("{} {}; the executor holds {}", number, what, most));
}

}  // namespace forestcoll::audit
