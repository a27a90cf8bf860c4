#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "audit/plan/channels.hpp"
#include "audit/plan/kinds.hpp"
#include "audit/plan/rules/rules.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kReduceAlignment = 16;  // it adds 16 bytes at a time

class Operands {
 public:
  Operands(const PlanFile& plan, std::size_t rank, std::size_t t, std::size_t i, Findings& findings)
      : plan_(plan),
        gpu_(plan.gpus[rank]),
        block_(gpu_.threadblocks[t]),
        op_(block_.ops[i]),
        place_(plan_place(rank, t, i)),
        size_(op_.sources.empty() ? -1 : op_.sources.front().size),
        findings_(findings) {}

  void check() {
    for (const PlanSlice& slice : op_.sources) check_slice(slice);
    for (const PlanSlice& slice : op_.destinations) check_slice(slice);
    if (op_.kind == PlanKind::flush) return check_flush();
    check_shape();
    check_quirks();
    check_loop();
  }

 private:
  void add(Rule rule, std::string message, std::string remedy = {}) {
    findings_.add(rule, place_, std::move(message), std::move(remedy));
  }

  void check_flush() {
    if (op_.destinations.size() == op_.channels.size()) return;
    add(Rule::attribute,
        fmt::format("flush names {} channels and {} destinations; the executor flushes as many "
                    "channels as there are destinations",
                    op_.channels.size(), op_.destinations.size()),
        "give it a dst_buff with one entry (type, index, size) for each channel, or wait for a "
        "signal of the receiver instead");
  }

  // How many of its operands an operation takes from here and from elsewhere.
  void check_shape() {
    const PlanTraits& traits = *traits_of(op_.kind);
    const auto locals = [](const std::vector<PlanSlice>& slices) {
      return std::count_if(slices.begin(), slices.end(),
                           [](const PlanSlice& slice) { return slice.is_local; });
    };
    const auto sources = std::ssize(op_.sources), destinations = std::ssize(op_.destinations);
    const bool right = fits(op_.sources, traits.sources) &&
                       fits(op_.destinations, traits.destinations) &&
                       (!traits.pairwise || sources == destinations);
    if (!right) {
      add(Rule::attribute,
          fmt::format("{} cannot have {} sources ({} local) and {} destinations ({} local)",
                      to_string(op_.kind), sources, locals(op_.sources), destinations,
                      locals(op_.destinations)));
    }
    const bool known = (traits.through_memory && op_.channel_kind == ChannelKind::memory) ||
                       (traits.through_port && op_.channel_kind == ChannelKind::port);
    if (traits.through_memory && !known) {
      add(Rule::attribute, fmt::format("{} does not go through channels of type {}",
                                       to_string(op_.kind), to_string(op_.channel_kind)));
    }
  }

  static bool fits(const std::vector<PlanSlice>& slices, const PlanSide& side) {
    if (std::ssize(slices) < side.least || std::ssize(slices) > side.most) return false;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const bool local = static_cast<std::int64_t>(i) < side.locals;
      const bool right = local                                   ? slices[i].is_local
                         : side.rest == PlanSide::Rest::switched ? slices[i].is_switched
                                                                 : slices[i].is_remote;
      if (!right) return false;
    }
    return true;
  }

  void check_slice(const PlanSlice& slice) {
    const int kinds =
        (slice.is_local ? 1 : 0) + (slice.is_remote ? 1 : 0) + (slice.is_switched ? 1 : 0);
    if (kinds != 1) {
      add(Rule::attribute, "a buffer needs either a type or a buffer_id (or a switch_channel_id)");
      return;
    }
    if (slice.is_local) return check_bounds(slice, gpu_, slice.buffer);
    slice.is_remote ? check_remote(slice) : check_switched(slice);
  }

  void check_remote(const PlanSlice& slice) {
    const auto list = ids_of(block_.remote_buffers, op_.channel_kind);
    if (slice.remote < 0 || slice.remote >= std::ssize(list)) {
      add(Rule::connection,
          fmt::format("buffer_id {}, but the threadblock lists {} for {} channels", slice.remote,
                      list.size(), to_string(op_.channel_kind)));
      return;
    }
    const std::int64_t id = list[static_cast<std::size_t>(slice.remote)];
    if (id < 0 || id >= std::ssize(gpu_.remote_buffers)) return;  // reported with the list
    const auto& remote = gpu_.remote_buffers[static_cast<std::size_t>(id)];
    if (remote.rank < 0 || remote.rank >= std::ssize(plan_.gpus)) return;
    check_bounds(slice, plan_.gpus[static_cast<std::size_t>(remote.rank)], remote.buffer);
  }

  void check_switched(const PlanSlice& slice) {
    const auto list = ids_of(block_.channels, ChannelKind::switched);
    if (slice.switch_channel < 0 || slice.switch_channel >= std::ssize(list)) {
      add(Rule::connection, fmt::format("switch_channel_id {}, but the threadblock lists {}",
                                        slice.switch_channel, list.size()));
      return;
    }
    const auto groups = groups_of(gpu_);
    const std::int64_t id = list[static_cast<std::size_t>(slice.switch_channel)];
    if (id < 0 || id >= std::ssize(groups)) return;  // reported with the list
    const PlanGroup& group = groups[static_cast<std::size_t>(id)];
    for (const std::int64_t rank : group.ranks) {
      if (rank < 0 || rank >= std::ssize(plan_.gpus)) continue;
      check_bounds(slice, plan_.gpus[static_cast<std::size_t>(rank)], group.buffer);
    }
  }

  void check_bounds(const PlanSlice& slice, const PlanGpu& owner, Buffer buffer) {
    const std::int64_t chunks = buffer == Buffer::input    ? owner.input_chunks
                                : buffer == Buffer::output ? owner.output_chunks
                                                           : owner.scratch_chunks;
    if (slice.index < 0 || slice.size < 1 || slice.index > chunks ||
        slice.size > chunks - slice.index) {
      add(Rule::bounds,
          fmt::format("index {} with size {} is beyond the {} chunks of the {} buffer", slice.index,
                      slice.size, chunks, to_string(buffer)));
    } else if (slice.size != size_ && op_.kind != PlanKind::flush) {
      add(Rule::bounds,
          fmt::format("sizes {} and {} in one operation; the executor uses one for all", size_,
                      slice.size));
    }
  }

  void check_quirks() {
    if (adds(op_.kind) && !has_packets(op_.kind) && plan_.alignment % kReduceAlignment != 0) {
      add(Rule::attribute,
          fmt::format("the executor adds {} bytes at a time, but buffer_alignment is {}",
                      kReduceAlignment, plan_.alignment));
    }
    const bool from_memory = (op_.kind == PlanKind::put || op_.kind == PlanKind::put_packets) &&
                             op_.channel_kind == ChannelKind::memory && !op_.sources.empty();
    if (from_memory &&
        std::any_of(op_.sources.begin(), op_.sources.end(), [&](const PlanSlice& slice) {
          return slice.buffer != op_.sources.front().buffer;
        })) {
      add(Rule::unsupported,
          fmt::format("a {} through memory channels takes all its sources from the buffer of the "
                      "first",
                      to_string(op_.kind)),
          "write one put for each buffer");
    }
    if (is_put(op_.kind) && op_.kind != PlanKind::put && op_.channel_kind == ChannelKind::memory) {
      add(Rule::unsupported,
          fmt::format("{} through a memory channel never signals", to_string(op_.kind)),
          "use put, nop and signal");
    }
    if (op_.kind == PlanKind::get) {
      for (std::size_t s = 0; s < std::min(op_.sources.size(), op_.destinations.size()); ++s) {
        if (op_.sources[s].index == op_.destinations[s].index) continue;
        add(Rule::unsupported, "get: the executor swaps the two offsets, so both must be the same");
      }
    }
  }

  void check_loop() {
    if (op_.loop < 0) return;
    const std::int64_t chunks = block_.ops[static_cast<std::size_t>(op_.loop)].loop_chunks;
    if (chunks != size_) {
      add(Rule::bounds,
          fmt::format("size {} in a pipeline over {} chunks: the executor counts on both being the "
                      "same",
                      size_, chunks));
    }
  }

  const PlanFile& plan_;
  const PlanGpu& gpu_;
  const PlanThreadblock& block_;
  const PlanOp& op_;
  Place place_;
  std::int64_t size_;  // of the first source
  Findings& findings_;
};

}  // namespace

void check_operands(const PlanFile& plan, std::size_t rank, std::size_t t, std::size_t i,
                    Findings& findings) {
  Operands(plan, rank, t, i, findings).check();
}

}  // namespace forestcoll::audit
