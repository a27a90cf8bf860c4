// Small messages in one box. Readers of packets wait for the flags in them, and every rank has its
// own packets, too: so all ranks add up the packets of all ranks in one order, and have the same
// bits. Releases of MSCCL++ that store through switches hand packets to all at once there; others
// put them at every rank.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "schedule/mscclpp/blocks.hpp"
#include "schedule/mscclpp/messages_bound.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll {
namespace {

using Kind = PlanOperation::Kind;

constexpr std::size_t kMemory = static_cast<std::size_t>(PlanChannel::memory);
constexpr std::int32_t kMostPacketBlocks = 8;
constexpr std::size_t kMostAdded = 9;  // an operation adds up ten, the sum so far among them

/// What one threadblock of each rank does: a chunk of the data.
class PacketBlock {
 public:
  PacketBlock(std::size_t ranks, std::size_t own, std::int64_t chunk, std::int64_t chunks,
              const PlanOptions& options)
      : ranks_(ranks),
        own_(own),
        chunk_(chunk),
        chunks_(chunks),
        switch_stores_(options.switch_stores),
        output_(options.in_place ? Buffer::input : Buffer::output) {}

  PlanThreadblock make() {
    add(Kind::pack, {data()}, {packets_of(own_)});
    if (switch_stores_) {
      store();
    } else {
      put();
    }
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
  [[nodiscard]] PlanSlice data() const { return {.buffer = Buffer::input, .index = chunk_}; }
  [[nodiscard]] PlanSlice packets_of(std::size_t rank) const {
    return {.buffer = Buffer::scratch, .index = static_cast<std::int64_t>(rank) * chunks_ + chunk_};
  }
  [[nodiscard]] PlanSlice sum() const { return {.buffer = output_, .index = chunk_}; }

  void store() {
    block_.switch_channels = {0};
    PlanSlice all = packets_of(own_);
    all.switched = 0;
    add(Kind::store_packets, {packets_of(own_)}, {all});
  }

  // At the other ranks, which the GPU lists in this order.
  void put() {
    const auto others = static_cast<std::int32_t>(ranks_) - 1;
    constexpr auto kMost = static_cast<std::int32_t>(schedule::kMaxOperationChannels);
    for (std::int32_t begin = 0; begin < others; begin += kMost) {
      std::vector<PlanSlice> ends;
      for (std::int32_t n = begin; n < std::min(others, begin + kMost); ++n) {
        block_.channels[kMemory].push_back(n);
        block_.remote_buffers[kMemory].push_back(n);
        ends.push_back(packets_of(own_));
        ends.back().remote = n;
      }
      std::vector<PlanSlice> sources(ends.size(), data());
      add(Kind::put_packets, std::move(sources), std::move(ends));
    }
  }

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
  bool switch_stores_;
  Buffer output_;
  PlanThreadblock block_;
};

// How the others' packets are reached: through the switch, or each by itself.
void open_ways(std::size_t ranks, std::size_t own, const PlanOptions& options, PlanGpu& gpu) {
  PlanSwitchGroup all{Buffer::scratch, {}};
  for (std::size_t r = 0; r < ranks; ++r) {
    all.ranks.emplace_back(r);
    if (options.switch_stores || r == own) continue;
    gpu.peers[kMemory].emplace_back(r);
    gpu.remote_buffers.push_back({Rank(r), Buffer::scratch, PlanChannel::memory});
  }
  if (options.switch_stores) gpu.switch_groups = {std::move(all)};
}

Expected<void> refuse_many_puts(std::size_t ranks, const PlanOptions& options) {
  if (options.switch_stores || ranks - 1 <= schedule::kMaxBlockChannels) return {};
  return make_error(
      Code::T03,
      fmt::format("a threadblock puts packets at {} others, but MSCCL++ holds {} channels",
                  ranks - 1, schedule::kMaxBlockChannels),
      "leave `max_bytes` out, or use a release that stores through switches");
}

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
  if (const auto done = refuse_many_puts(ranks, options); !done) return done.errors();
  const std::int64_t chunks = std::min(options.max_threadblocks, kMostPacketBlocks);
  ExecutionPlan plan;
  plan.collective = Collective::allreduce;
  plan.in_place = options.in_place;
  plan.packets = true;
  plan.unit_bytes = options.shape.unit_bytes;
  plan.min_bytes = options.min_bytes;
  plan.gpus = IdVector<Rank, PlanGpu>(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    PlanGpu& gpu = plan.gpus[Rank(r)];
    gpu.input_chunks = gpu.output_chunks = chunks;
    gpu.scratch_chunks = static_cast<std::int64_t>(ranks) * chunks;
    open_ways(ranks, r, options, gpu);
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      gpu.threadblocks.push_back(PacketBlock(ranks, r, chunk, chunks, options).make());
    }
  }
  plan.max_bytes = schedule::max_bytes_of(options, plan);
  if (const auto done = schedule::refuse_long_messages(plan); !done) return done.errors();
  return plan;
}

}  // namespace forestcoll
