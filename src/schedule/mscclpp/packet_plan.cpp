// Small messages through a switch that copies. Readers of packets wait for the flags in them, and
// what is stored through the switch arrives at its sender too: so all ranks add up the packets of
// all ranks, their own among them, in one order, and have the same bits.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "schedule/mscclpp/messages_bound.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll {
namespace {

using Kind = PlanOperation::Kind;

constexpr std::int32_t kMostPacketBlocks = 8;
constexpr std::size_t kMostAdded = 9;  // an operation adds up ten, the sum so far among them

/// What one threadblock of each rank does: a chunk of the data.
class PacketBlock {
 public:
  PacketBlock(std::size_t ranks, std::size_t own, std::int64_t chunk, std::int64_t chunks,
              bool in_place)
      : ranks_(ranks),
        own_(own),
        chunk_(chunk),
        chunks_(chunks),
        output_(in_place ? Buffer::input : Buffer::output) {}

  PlanThreadblock make() {
    block_.switch_channels = {0};
    add(Kind::pack, {{.buffer = Buffer::input, .index = chunk_}}, {packets_of(own_)});
    PlanSlice all = packets_of(own_);
    all.switched = 0;
    add(Kind::store_packets, {packets_of(own_)}, {all});
    in_step();
    add(Kind::unpack, {packets_of(0)}, {sum()});
    for (std::size_t begin = 1; begin < ranks_; begin += kMostAdded) {
      in_step();
      std::vector<PlanSlice> sources = {sum()};
      for (std::size_t r = begin; r < std::min(ranks_, begin + kMostAdded); ++r) {
        sources.push_back(packets_of(r));
      }
      add(Kind::add_packets, std::move(sources), {sum()});
    }
    return std::move(block_);
  }

 private:
  [[nodiscard]] PlanSlice packets_of(std::size_t rank) const {
    return {.buffer = Buffer::scratch, .index = static_cast<std::int64_t>(rank) * chunks_ + chunk_};
  }
  [[nodiscard]] PlanSlice sum() const { return {.buffer = output_, .index = chunk_}; }

  void add(Kind kind, std::vector<PlanSlice> sources, std::vector<PlanSlice> destinations) {
    PlanOperation operation;
    operation.kind = kind;
    operation.sources = std::move(sources);
    operation.destinations = std::move(destinations);
    block_.before.push_back(std::move(operation));
  }

  // Other threads read and write what these did.
  void in_step() { block_.before.emplace_back(); }

  std::size_t ranks_, own_;
  std::int64_t chunk_, chunks_;
  Buffer output_;
  PlanThreadblock block_;
};

}  // namespace

Expected<ExecutionPlan> make_packet_plan(const IdVector<Rank, std::int32_t>& box_of,
                                         const PlanOptions& options) {
  FORESTCOLL_CHECK(options.max_threadblocks > 0, "a threadblock at least");
  const auto is_first = [&](std::int32_t box) { return box >= 0 && box == box_of[Rank(0)]; };
  if (!std::all_of(box_of.begin(), box_of.end(), is_first)) {
    return make_error(Code::T06, "packets go through the switch of one box alone",
                      "leave `max_bytes` out");
  }
  const std::size_t ranks = box_of.size();
  const std::int64_t chunks = std::min(options.max_threadblocks, kMostPacketBlocks);
  ExecutionPlan plan;
  plan.collective = Collective::allreduce;
  plan.in_place = options.in_place;
  plan.packets = true;
  plan.unit_bytes = options.unit_bytes;
  plan.min_bytes = options.min_bytes;
  plan.gpus = IdVector<Rank, PlanGpu>(ranks);
  PlanSwitchGroup all{Buffer::scratch, {}};
  for (std::size_t r = 0; r < ranks; ++r) all.ranks.emplace_back(r);
  for (std::size_t r = 0; r < ranks; ++r) {
    PlanGpu& gpu = plan.gpus[Rank(r)];
    gpu.input_chunks = gpu.output_chunks = chunks;
    gpu.scratch_chunks = static_cast<std::int64_t>(ranks) * chunks;
    gpu.switch_groups = {all};
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      gpu.threadblocks.push_back(PacketBlock(ranks, r, chunk, chunks, plan.in_place).make());
    }
  }
  plan.max_bytes = schedule::max_bytes_of(options, plan);
  if (const auto done = schedule::refuse_long_messages(plan); !done) return done.errors();
  return plan;
}

}  // namespace forestcoll
