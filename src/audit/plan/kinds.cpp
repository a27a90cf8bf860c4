#include "audit/plan/kinds.hpp"

#include <array>

namespace forestcoll::audit {
namespace {

using Rest = PlanSide::Rest;
constexpr std::int32_t kAll = 1 << 20;
constexpr std::int32_t kNone = PlanSide::kNone;

constexpr PlanSide kLocal = {.locals = kAll};
constexpr PlanSide kLocals = {.locals = kAll, .most = kAll};
constexpr PlanSide kRemotes = {.rest = Rest::remote, .most = kAll};
constexpr PlanSide kLocalAndRemotes = {.locals = 1, .rest = Rest::remote, .most = kAll};
constexpr PlanSide kSwitched = {.rest = Rest::switched};

constexpr PlanSide packets(PlanSide side, std::int32_t from = 0) {
  side.packets = from;
  return side;
}
constexpr PlanSide at_least(std::int32_t least, PlanSide side) {
  side.least = least;
  return side;
}
constexpr PlanSide locals(std::int32_t count, PlanSide side) {
  side.locals = count;
  return side;
}

using K = PlanKind;
constexpr std::array<PlanTraits, 20> kTraits = {
    {{K::put, kLocals, kRemotes, true, true, true},
     {K::put_signal, kLocals, kRemotes, true, true, true},
     {K::put_signal_flush, kLocals, kRemotes, true, true, true},
     {K::get, kRemotes, kLocals, true, true},
     {K::copy, kLocal, kLocal},
     {K::reduce, kLocals, kLocal},
     {K::reduce_send, kLocals, kLocalAndRemotes, false, true},
     {K::read_reduce, kLocalAndRemotes, kLocal, false, true},
     {K::read_reduce_send, kLocalAndRemotes, kLocalAndRemotes, false, true},
     {K::put_packets, kLocals, packets(kRemotes), true, true, true},
     {K::read_put_packets, packets(kLocal), packets(kRemotes), false, true, true},
     {K::copy_packets, kLocal, packets(kLocal)},
     {K::unpack_packets, packets(kLocal), kLocal},
     {K::reduce_packets, packets(kLocals, 1), kLocal},
     {K::reduce_copy_packets, packets(kLocals, 1),
      packets(at_least(2, {.locals = kAll, .most = 2}), 1)},
     {K::reduce_send_packets, packets(kLocals, 1), packets(kLocalAndRemotes, 1), false, true},
     {K::reduce_copy_send_packets, packets(kLocals, 1),
      packets(at_least(2, locals(2, kLocalAndRemotes)), 1), false, true},
     {K::switch_reduce_store, kSwitched, kSwitched},
     {K::switch_store, kLocal, kSwitched},
     {K::switch_store_packets, packets(kLocal), packets(kSwitched)}}};

}  // namespace

const PlanTraits* traits_of(PlanKind kind) {
  for (const PlanTraits& traits : kTraits) {
    if (traits.kind == kind) return &traits;
  }
  return nullptr;
}

bool adds(PlanKind kind) {
  const PlanTraits* traits = traits_of(kind);
  return traits != nullptr && !traits->pairwise &&
         (traits->sources.most > 1 || traits->sources.rest == Rest::switched);
}

bool is_put(PlanKind kind) {
  return kind == PlanKind::put || kind == PlanKind::put_signal ||
         kind == PlanKind::put_signal_flush;
}

bool reads_packets(const PlanOp& op, std::size_t i) {
  if (op.kind == PlanKind::put_packets) return op.channel_kind == ChannelKind::port;
  const PlanTraits* traits = traits_of(op.kind);
  return traits != nullptr && static_cast<std::int64_t>(i) >= traits->sources.packets;
}

bool writes_packets(const PlanOp& op, std::size_t i) {
  const PlanTraits* traits = traits_of(op.kind);
  return traits != nullptr && static_cast<std::int64_t>(i) >= traits->destinations.packets;
}

bool waits_for_packets(PlanKind kind) {
  const PlanTraits* traits = traits_of(kind);
  return traits != nullptr && traits->sources.packets != kNone;
}

bool has_packets(PlanKind kind) {
  const PlanTraits* traits = traits_of(kind);
  return traits != nullptr &&
         (traits->sources.packets != kNone || traits->destinations.packets != kNone);
}

bool has_switches(const PlanFile& plan) {
  for (const PlanGpu& gpu : plan.gpus) {
    for (const PlanThreadblock& tb : gpu.threadblocks) {
      for (const PlanOp& op : tb.ops) {
        const PlanTraits* traits = traits_of(op.kind);
        if (traits != nullptr && traits->destinations.rest == Rest::switched) return true;
      }
    }
  }
  return false;
}

}  // namespace forestcoll::audit
