#include "audit/plan/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "audit/plan/groups.hpp"
#include "audit/plan/kinds.hpp"
#include "graph/joined_items.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::uint64_t kOffsets = UINT32_MAX;  // the executor's, in bytes
constexpr std::size_t kMostOfAHost = 16;        // GPUs
// Bytes that the executor counts on with reuse_resources; it has twice as many, for flags.
constexpr std::int64_t kReusedScratch = std::int64_t{1} << 26;

template <class Predicate>
bool any_operation(const PlanFile& plan, Predicate predicate) {
  for (const PlanGpu& gpu : plan.gpus) {
    for (const PlanThreadblock& tb : gpu.threadblocks) {
      if (std::any_of(tb.ops.begin(), tb.ops.end(), predicate)) return true;
    }
  }
  return false;
}

// The executor sends from the beginning of the allocation that holds the buffer, and scratch is one
// of its own.
bool sends_from_the_callers(const PlanOp& op) {
  return is_put(op.kind) && op.channel_kind == ChannelKind::port &&
         std::any_of(op.sources.begin(), op.sources.end(), [](const PlanSlice& slice) {
           return slice.is_local && slice.buffer != Buffer::scratch;
         });
}

bool is_packets(const PlanOp& op) {
  return has_packets(op.kind);
}

bool is_in_pipeline(const PlanOp& op) {
  return op.loop >= 0;
}

bool is_packets_by_port(const PlanOp& op) {
  return op.kind == PlanKind::put_packets && op.channel_kind == ChannelKind::port;
}

// All peers and switches that the executor tells of buffers; those it remembers from the first
// call.
bool shows_the_callers_buffers(const PlanGpu& gpu) {
  return std::any_of(gpu.remote_buffers.begin(), gpu.remote_buffers.end(),
                     [](const PlanRemoteBuffer& b) { return b.buffer != Buffer::scratch; }) ||
         std::any_of(gpu.channels.begin(), gpu.channels.end(), [](const PlanChannels& list) {
           return list.kind == ChannelKind::switched && list.buffer != Buffer::scratch;
         });
}

bool multicasts_the_callers_buffers(const PlanGpu& gpu) {
  return std::any_of(gpu.channels.begin(), gpu.channels.end(), [](const PlanChannels& list) {
    return list.kind == ChannelKind::switched && list.buffer != Buffer::scratch;
  });
}

// Ranks that memory channels join, directly or over others: the most of such sets.
std::size_t most_joined_by_memory(const PlanFile& plan) {
  graph::JoinedItems ranks(plan.gpus.size());
  std::vector<std::size_t> sizes(plan.gpus.size(), 0);
  for (std::size_t r = 0; r < plan.gpus.size(); ++r) {
    for (const PlanChannels& list : plan.gpus[r].channels) {
      if (list.kind != ChannelKind::memory) continue;
      for (const std::int64_t peer : list.ids) {
        if (peer >= 0 && peer < std::ssize(sizes)) ranks.join(r, static_cast<std::size_t>(peer));
      }
    }
  }
  for (std::size_t r = 0; r < sizes.size(); ++r) ++sizes[ranks.first(r)];
  return sizes.empty() ? 0 : std::ranges::max(sizes);
}

bool has_memory_peers(const PlanGpu& gpu) {
  return std::any_of(gpu.channels.begin(), gpu.channels.end(), [](const PlanChannels& list) {
    return list.kind == ChannelKind::memory && !list.ids.empty();
  });
}

void add_reuse(const PlanFile& plan, std::vector<std::string>& conditions) {
  if (!plan.reuses_resources) return;
  std::int64_t scratch = 0;
  for (const PlanGpu& gpu : plan.gpus) scratch = std::max(scratch, gpu.scratch_chunks);
  if (scratch > 0) {
    const std::int64_t room = kReusedScratch / (plan.doubles_scratch ? 2 : 1) / scratch;
    const std::int64_t largest = room / plan.alignment * plan.alignment * message_chunks(plan);
    if (plan.max_size > static_cast<std::uint64_t>(largest)) {
      conditions.push_back(fmt::format(
          "messages have at most {} bytes: beyond, reuse_resources makes {}", largest,
          any_operation(plan, is_in_pipeline)
              ? "the rounds of a pipeline share scratch, which this verifier does not follow"
              : "the chunks of scratch overlap"));
    }
  }
  if (any_operation(plan, is_packets)) {
    conditions.emplace_back(
        plan.doubles_scratch
            ? "all plans of its executor that have reuse_resources hold packets, in two halves: "
              "their scratch is the same, and other data in it may look like flags"
            : "no other plan of its executor has reuse_resources: their scratch is the same, and "
              "another's may overwrite packets that are still waited for");
  }
  if (std::any_of(plan.gpus.begin(), plan.gpus.end(), shows_the_callers_buffers)) {
    conditions.push_back(
        "every call has the buffers of the first: with reuse_resources, peers and switches are "
        "told "
        "of no others");
  }
}

void add_groups(const PlanFile& plan, const PlanRelease& release,
                std::vector<std::string>& conditions) {
  if (const std::int64_t units = units_of_chunks(plan); units > 1) {
    conditions.push_back(
        fmt::format("a chunk's bytes are a multiple of {}: groups of threadblocks cut others in "
                    "different places",
                    units * plan.alignment));
  }
  std::int64_t most = 1;  // units of the smallest chunk of which each part has one
  for (const PlanGpu& gpu : plan.gpus) {
    for (const PlanThreadblock& tb : gpu.threadblocks) {
      for (const PlanOp& op : tb.ops) {
        if (!op.in_group || op.sources.empty()) continue;
        if (release.cuts_small_chunks && !waits_for_packets(op.kind)) continue;
        const std::int64_t size = op.sources.front().size;
        most = std::max(most, (op.group_size + size - 1) / size);
      }
    }
  }
  const std::int64_t smallest = most * plan.alignment * message_chunks(plan);
  if (most > 1 && plan.min_size < static_cast<std::uint64_t>(smallest)) {
    conditions.push_back(fmt::format(
        "messages have at least {} bytes, so that every threadblock of a group {}", smallest,
        release.cuts_small_chunks ? "waits for packets"
                                  : "has a part: the offsets of others wrap in 0.9"));
  }
}

// What other releases do otherwise, or this one does with some machines.
void add_release(const PlanFile& plan, const PlanRelease& release,
                 std::vector<std::string>& conditions) {
  const auto has = [&](PlanKind kind) {
    return any_operation(plan, [kind](const PlanOp& op) { return op.kind == kind; });
  };
  if (release.flushes_puts && has(PlanKind::put_signal_flush)) {
    conditions.push_back(
        "MSCCL++ is 0.10 or later: up to 0.9 a pwsf puts and signals, and flushes nothing");
  }
  if (has(PlanKind::switch_store) || has(PlanKind::switch_store_packets)) {
    conditions.push_back(
        "MSCCL++ is 0.10 or later: 0.9 has neither gstore nor gstorepkt, and throws (plans for "
        "target mscclpp-0.9 do without)");
  }
  if (!release.joins_hosts && std::any_of(plan.gpus.begin(), plan.gpus.end(), has_memory_peers)) {
    conditions.push_back(
        "ranks with memory channels between them run on one host: 0.9 connects hosts through "
        "InfiniBand alone, where there is any");
  }
  const std::size_t joined = release.joins_hosts ? most_joined_by_memory(plan) : 0;
  if (joined > kMostOfAHost) {
    conditions.push_back(fmt::format(
        "the {} ranks that memory channels join are in one domain of NVLink, as hosts of an NVL72 "
        "are: the executor takes domains from NVML, and throws where they are not of equal size "
        "with their ranks in a row",
        joined));
  }
}

}  // namespace

std::uint64_t largest_message(const PlanFile& plan) {
  const std::int64_t room =
      std::int64_t{plan.protocol == "LL" ? 2 : 1} * (plan.doubles_scratch ? 2 : 1);
  std::int64_t most = 1;  // chunks of a buffer
  for (const PlanGpu& gpu : plan.gpus) {
    most = std::max({most, gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks * room});
  }
  const auto alignment = static_cast<std::uint64_t>(plan.alignment);
  const std::uint64_t chunk = kOffsets / static_cast<std::uint64_t>(most) / alignment * alignment;
  return chunk * static_cast<std::uint64_t>(message_chunks(plan));
}

std::vector<std::string> plan_conditions(const PlanFile& plan, const PlanRelease& release) {
  std::vector<std::string> conditions;
  if (const std::uint64_t largest = largest_message(plan); plan.max_size > largest) {
    conditions.push_back(fmt::format(
        "messages have at most {} bytes: beyond, offsets of 32 bits wrap in the executor, and {} "
        "does not keep larger ones from it",
        largest,
        plan.max_size == UINT64_MAX ? "the plan, without a max_message_size,"
                                    : fmt::format("max_message_size {}", plan.max_size)));
  }
  if (any_operation(plan, sends_from_the_callers)) {
    conditions.push_back(
        "input and output lie at the beginning of their allocations, as a framework's tensors may "
        "not: port channels send from there");
  } else if (std::any_of(plan.gpus.begin(), plan.gpus.end(), shows_the_callers_buffers)) {
    conditions.emplace_back(
        "input and output lie equally far into their allocations on all ranks: others' are taken "
        "for as far in as a rank's own");
  }
  add_release(plan, release, conditions);
  add_reuse(plan, conditions);
  add_groups(plan, release, conditions);
  if (any_operation(plan, is_packets)) {
    conditions.push_back(
        "all ranks run the same plans in the same order: the flags of packets count the calls of a "
        "process");
  }
  if (any_operation(plan, is_packets_by_port)) {
    conditions.push_back(
        "no other plan, and no other pair of buffers, was loaded before: a ppkt through a port "
        "channel sends from the memory that its executor knew first (rppkt does not)");
  }
  if (has_switches(plan)) {
    conditions.push_back(fmt::format(
        "the GPUs have compute capability 9.0 or later, behind NVSwitches{}: others pass over "
        "operations on switch channels, or cannot load the plan",
        std::any_of(plan.gpus.begin(), plan.gpus.end(), multicasts_the_callers_buffers)
            ? ", and the buffers are allocated as multicast memory"
            : ""));
  }
  if (any_operation(plan,
                    [](const PlanOp& op) { return op.kind == PlanKind::switch_reduce_store; })) {
    conditions.push_back("elements are not uint8, which switches do not add");
  }
  return conditions;
}

}  // namespace forestcoll::audit
