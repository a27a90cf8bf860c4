#include "audit/plan_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "audit/plan_channels.hpp"
#include "audit/plan_names.hpp"
#include "audit/plan_structure.hpp"

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
  void add(Code code, std::string message, std::string remedy = {}) {
    findings_.add(code, place_, std::move(message), std::move(remedy));
  }

  void check_flush() {
    if (op_.destinations.size() == op_.channels.size()) return;
    add(Code::attribute,
        fmt::format("flush names {} channels and {} destinations; the executor flushes as many "
                    "channels as there are destinations",
                    op_.channels.size(), op_.destinations.size()),
        "give it a dst_buff with one entry (type, index, size) for each channel, or wait for a "
        "signal of the receiver instead");
  }

  // How many of its operands an operation takes from here and from elsewhere.
  void check_shape() {
    const auto locals = [](const std::vector<PlanSlice>& slices) {
      return std::count_if(slices.begin(), slices.end(),
                           [](const PlanSlice& slice) { return slice.is_local; });
    };
    const auto sources = std::ssize(op_.sources), destinations = std::ssize(op_.destinations);
    const auto local_sources = locals(op_.sources), local_destinations = locals(op_.destinations);
    bool right = sources > 0 && destinations > 0;
    bool remote = true;
    switch (op_.kind) {
      case PlanKind::put:
      case PlanKind::put_signal:
      case PlanKind::put_signal_flush:
        right =
            right && sources == destinations && local_sources == sources && local_destinations == 0;
        break;
      case PlanKind::get:
        right = right && sources == destinations && local_sources == 0 &&
                local_destinations == destinations;
        break;
      case PlanKind::copy:
        right = sources == 1 && destinations == 1 && local_sources == 1 && local_destinations == 1;
        remote = false;
        break;
      case PlanKind::reduce:
        right = right && local_sources == sources && destinations == 1 && local_destinations == 1;
        remote = false;
        break;
      case PlanKind::reduce_send:
        right = right && local_sources == sources && first_is_the_local_one(op_.destinations);
        break;
      case PlanKind::read_reduce:
        right = right && first_is_the_local_one(op_.sources) && destinations == 1 &&
                local_destinations == 1;
        break;
      default:
        right = right && first_is_the_local_one(op_.sources) &&
                first_is_the_local_one(op_.destinations);
    }
    if (!right) {
      add(Code::attribute,
          fmt::format("{} cannot have {} sources ({} local) and {} destinations ({} local)",
                      to_string(op_.kind), sources, local_sources, destinations,
                      local_destinations));
    }
    const bool known = op_.channel_kind == ChannelKind::memory ||
                       (is_put(op_.kind) && op_.channel_kind == ChannelKind::port);
    if (remote && !known) {
      add(Code::attribute, fmt::format("{} does not go through channels of type {}",
                                       to_string(op_.kind), to_string(op_.channel_kind)));
    }
  }

  static bool first_is_the_local_one(const std::vector<PlanSlice>& slices) {
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (slices[i].is_local != (i == 0)) return false;
    }
    return true;
  }

  void check_slice(const PlanSlice& slice) {
    const PlanGpu* owner = &gpu_;
    Buffer buffer = slice.buffer;
    if (slice.is_local == slice.is_remote) {
      add(Code::attribute, "a buffer needs either a type or a buffer_id");
      return;
    }
    if (slice.is_remote) {
      const auto list = ids_of(block_.remote_buffers, op_.channel_kind);
      if (slice.remote < 0 || slice.remote >= std::ssize(list)) {
        add(Code::connection,
            fmt::format("buffer_id {}, but the threadblock lists {} for {} channels", slice.remote,
                        list.size(), to_string(op_.channel_kind)));
        return;
      }
      const std::int64_t id = list[static_cast<std::size_t>(slice.remote)];
      if (id < 0 || id >= std::ssize(gpu_.remote_buffers)) return;  // reported with the list
      const auto& remote = gpu_.remote_buffers[static_cast<std::size_t>(id)];
      if (remote.rank < 0 || remote.rank >= std::ssize(plan_.gpus)) return;
      owner = &plan_.gpus[static_cast<std::size_t>(remote.rank)];
      buffer = remote.buffer;
    }
    const std::int64_t chunks = buffer == Buffer::input    ? owner->input_chunks
                                : buffer == Buffer::output ? owner->output_chunks
                                                           : owner->scratch_chunks;
    if (slice.index < 0 || slice.size < 1 || slice.index > chunks ||
        slice.size > chunks - slice.index) {
      add(Code::bounds,
          fmt::format("index {} with size {} is beyond the {} chunks of the {} buffer", slice.index,
                      slice.size, chunks, to_string(buffer)));
    } else if (slice.size != size_ && op_.kind != PlanKind::flush) {
      add(Code::bounds,
          fmt::format("sizes {} and {} in one operation; the executor uses one for all", size_,
                      slice.size));
    }
  }

  void check_quirks() {
    const bool reduces = op_.kind == PlanKind::reduce || op_.kind == PlanKind::reduce_send ||
                         op_.kind == PlanKind::read_reduce ||
                         op_.kind == PlanKind::read_reduce_send;
    if (reduces && plan_.alignment % kReduceAlignment != 0) {
      add(Code::attribute,
          fmt::format("the executor adds {} bytes at a time, but buffer_alignment is {}",
                      kReduceAlignment, plan_.alignment));
    }
    const bool from_memory = op_.kind == PlanKind::put && op_.channel_kind == ChannelKind::memory &&
                             !op_.sources.empty();
    if (from_memory &&
        std::any_of(op_.sources.begin(), op_.sources.end(), [&](const PlanSlice& slice) {
          return slice.buffer != op_.sources.front().buffer;
        })) {
      add(Code::unsupported,
          "a put through memory channels takes all its sources from the buffer of the first",
          "write one put for each buffer");
    }
    if (is_put(op_.kind) && op_.kind != PlanKind::put && op_.channel_kind == ChannelKind::memory) {
      add(Code::unsupported,
          fmt::format("{} through a memory channel never signals", to_string(op_.kind)),
          "use put, nop and signal");
    }
    if (op_.kind == PlanKind::get) {
      for (std::size_t s = 0; s < std::min(op_.sources.size(), op_.destinations.size()); ++s) {
        if (op_.sources[s].index == op_.destinations[s].index) continue;
        add(Code::unsupported, "get: the executor swaps the two offsets, so both must be the same");
      }
    }
  }

  void check_loop() {
    if (op_.loop < 0) return;
    const std::int64_t chunks = block_.ops[static_cast<std::size_t>(op_.loop)].loop_chunks;
    if (chunks != size_) {
      add(Code::bounds,
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
