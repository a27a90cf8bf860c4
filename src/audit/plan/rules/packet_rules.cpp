#include <fmt/format.h>

#include "audit/plan/channels.hpp"
#include "audit/plan/kinds.hpp"
#include "audit/plan/rules/rules.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kPayload = 8;  // bytes of data in the larger kind of packet

class PacketRules {
 public:
  PacketRules(const PlanFile& plan, Findings& findings) : plan_(plan), findings_(findings) {}

  void run() {
    for_each([&](const PlanOp& op, const Place& place) {
      if (uses_ || !has_packets(op.kind)) return;
      uses_ = true;
      check_plan(place);
    });
    if (!uses_) return;
    for_each([&](const PlanOp& op, const Place& place) {
      if (has_packets(op.kind) && op.loop >= 0) {
        findings_.add(Rule::unsupported, place,
                      "packets in a pipeline: the executor does not cut them to its rounds");
      }
      for (std::size_t i = 0; i < op.sources.size(); ++i) {
        check_slice(op, op.sources[i], reads_packets(op, i), place);
      }
      for (std::size_t i = 0; i < op.destinations.size(); ++i) {
        check_slice(op, op.destinations[i], writes_packets(op, i), place);
      }
    });
  }

 private:
  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t r = 0; r < plan_.gpus.size(); ++r) {
      const auto& blocks = plan_.gpus[r].threadblocks;
      for (std::size_t t = 0; t < blocks.size(); ++t) {
        gpu_ = &plan_.gpus[r];
        block_ = &blocks[t];
        for (std::size_t i = 0; i < blocks[t].ops.size(); ++i) {
          visit(blocks[t].ops[i], plan_place(r, t, i));
        }
      }
    }
  }

  // Once for the plan, at its first operation with packets.
  void check_plan(const Place& place) {
    if (plan_.protocol != "LL") {
      findings_.add(Rule::unsupported, place,
                    "packets in a plan of the protocol \"Simple\": the executor makes no room in "
                    "scratch for their flags",
                    "set the protocol to \"LL\"");
    }
    if (plan_.alignment % kPayload != 0) {
      findings_.add(Rule::attribute, place,
                    fmt::format("packets carry {} bytes each, but buffer_alignment is {}", kPayload,
                                plan_.alignment));
    }
    for (const PlanGpu& gpu : plan_.gpus) {
      if (!plan_.doubles_scratch || gpu.scratch_chunks == plan_.gpus.front().scratch_chunks) {
        continue;
      }
      findings_.add(Rule::chunk_count, Place{static_cast<std::int32_t>(gpu.id), -1, -1, 0, {}},
                    fmt::format("{} scratch chunks, rank 0 has {}: with "
                                "use_double_scratch_buffer the sender of packets takes its own "
                                "half for its peer's",
                                gpu.scratch_chunks, plan_.gpus.front().scratch_chunks),
                    "give every rank as many scratch chunks");
      return;
    }
  }

  [[nodiscard]] Buffer buffer_of_slice(const PlanOp& op, const PlanSlice& slice) const {
    const auto at = [](const auto& list, std::int64_t i) {
      return list[static_cast<std::size_t>(i)];
    };
    if (slice.is_local) return slice.buffer;
    if (slice.is_switched) {
      const auto list = ids_of(block_->channels, ChannelKind::switched);
      return at(groups_of(*gpu_), at(list, slice.switch_channel)).buffer;
    }
    const auto list = ids_of(block_->remote_buffers, op.channel_kind);
    return at(gpu_->remote_buffers, at(list, slice.remote)).buffer;
  }

  // A chunk of packets takes the room of two, so that the two kinds of chunks lie across.
  void check_slice(const PlanOp& op, const PlanSlice& slice, bool packets, const Place& place) {
    if (op.kind == PlanKind::flush) return;  // its destinations are counted, not touched
    const Buffer buffer = buffer_of_slice(op, slice);
    if (packets && buffer != Buffer::scratch) {
      findings_.add(Rule::attribute, place,
                    fmt::format("{}: packets lie in scratch, not in the {} buffer", op.name,
                                to_string(buffer)));
    } else if (!packets && buffer == Buffer::scratch) {
      findings_.add(Rule::unsupported, place,
                    fmt::format("{} takes scratch as data in a plan with packets: this verifier "
                                "does not follow scratch that holds both",
                                op.name));
    }
  }

  const PlanFile& plan_;
  Findings& findings_;
  bool uses_ = false;
  const PlanGpu* gpu_ = nullptr;
  const PlanThreadblock* block_ = nullptr;
};

}  // namespace

void check_packet_rules(const PlanFile& plan, Findings& findings) {
  PacketRules(plan, findings).run();
}

}  // namespace forestcoll::audit
