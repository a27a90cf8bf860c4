// An all-to-all, a scatter or a gather as an execution plan. One threadblock of every rank serves
// what two ranks have for each other in one place of their blocks, along the whole of its paths: so
// no threadblock waits for another of its GPU. What pairs equally far apart in rank order have
// shares a threadblock: there a rank is in few pairs. Leg by leg, a rank sends all that is due, and
// then waits for what others send on the same leg, so that waiting never closes a circle.
//
// In place, what arrives in an all-to-all would overwrite what is still to be sent. A rank
// therefore begins by copying all that it has for others to its scratch, and only then says that it
// can be written to.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"
#include "schedule/alltoall/alltoall_schedule.hpp"
#include "schedule/alltoall/messages.hpp"
#include "schedule/mscclpp/block_builder.hpp"
#include "schedule/mscclpp/messages_bound.hpp"
#include "schedule/mscclpp/plan_limits.hpp"

namespace forestcoll {
namespace {

using schedule::AlltoallMessage;
using schedule::BlockBuilder;
using schedule::BlockChannel;
using schedule::Location;
using schedule::Shipment;
using Kind = PlanOperation::Kind;

// One message, of one chunk.
struct PlanLeg {
  const AlltoallMessage* message = nullptr;
  std::size_t number = 0;  // of its path, from 0
  Location from, at;
};

// The threadblock of one rank.
class LegWriter {
 public:
  LegWriter(const IdVector<Rank, std::int32_t>& box_of, Rank rank, PlanGpu& gpu)
      : gpu_(gpu), builder_(box_of, rank, gpu), ranks_(box_of.size()), rank_(rank) {}

  void send(const PlanLeg& leg) {
    at(sends_, leg.number).push_back({leg.message->to, leg.from, leg.at});
  }
  void receive(const PlanLeg& leg) { at(receives_, leg.number).push_back(leg.message->from); }
  void copy_before(Location from, Location to) { copy(from, to, builder_.block.before); }
  void copy_own(Location from, Location to) { copy(from, to, builder_.block.loop); }

  void finish() {
    const std::size_t legs = std::max(sends_.size(), receives_.size());
    sends_.resize(legs);
    receives_.resize(legs);
    std::vector<BlockChannel> told, heard;
    for (std::size_t leg = 0; leg < legs; ++leg) {
      write_leg(leg);
      for (const Shipment& each : sends_[leg]) told.push_back(builder_.channel_to(each.to));
      for (const Rank from : receives_[leg]) heard.push_back(builder_.channel_to(from));
    }
    write_handshakes(told, heard);
    gpu_.threadblocks.push_back(std::move(builder_.block));
  }

 private:
  template <class T>
  static std::vector<T>& at(std::vector<std::vector<T>>& lists, std::size_t number) {
    if (lists.size() <= number) lists.resize(number + 1);
    return lists[number];
  }

  static void copy(Location from, Location to, std::vector<PlanOperation>& out) {
    PlanOperation& operation = out.emplace_back();
    operation.kind = Kind::copy;
    operation.sources.push_back(schedule::local_slice(from));
    operation.destinations.push_back(schedule::local_slice(to));
  }

  // Every rank begins with the next one: puts to the same rank would share its link.
  void write_leg(std::size_t leg) {
    auto& due = sends_[leg];
    std::stable_sort(due.begin(), due.end(), [this](const Shipment& a, const Shipment& b) {
      return distance(a.to) < distance(b.to);
    });
    if (!due.empty()) {
      if (leg > 0) builder_.block.loop.emplace_back();  // all threads have waited
      builder_.send(due);
    }
    std::vector<BlockChannel> heard;
    for (const Rank from : receives_[leg]) heard.push_back(builder_.channel_to(from));
    schedule::append_on_channels(Kind::wait, std::move(heard), builder_.block.loop);
  }

  [[nodiscard]] std::size_t distance(Rank to) const {
    return (to.index() + ranks_ - rank_.index()) % ranks_;
  }

  // Before: who is written to says that it is ready. After: who was written to through a port says
  // that all has arrived, which shows the sender that its memory is no longer read.
  void write_handshakes(const std::vector<BlockChannel>& told,
                        const std::vector<BlockChannel>& heard) {
    PlanThreadblock& block = builder_.block;
    if (!block.before.empty()) block.before.emplace_back();  // all copied
    schedule::append_on_channels(Kind::signal, heard, block.before);
    schedule::append_on_channels(Kind::wait, told, block.before);
    block.before.emplace_back();
    const auto arrived = schedule::ports_among(heard);
    if (!arrived.empty()) block.after.emplace_back();
    schedule::append_on_channels(Kind::signal, arrived, block.after);
    schedule::append_on_channels(Kind::wait, schedule::ports_among(told), block.after);
  }

  PlanGpu& gpu_;
  BlockBuilder builder_;
  std::size_t ranks_;
  Rank rank_;
  std::vector<std::vector<Shipment>> sends_;  // by leg
  std::vector<std::vector<Rank>> receives_;
};

class PlanMaker {
 public:
  PlanMaker(const AlltoallRoutes& routes, const IdVector<NodeId, Rank>& rank_of,
            const IdVector<Rank, std::int32_t>& box_of, const Demand& demand,
            const PlanOptions& options)
      : k_(routes.k),
        collective_(demand.collective()),
        root_(demand.root()),
        copies_first_(options.in_place && collective_ == Collective::alltoall),
        ranks_(static_cast<std::int64_t>(box_of.size())),
        box_of_(box_of),
        options_(options),
        messages_(schedule::order_alltoall(routes, rank_of, box_of.size(), 1, INT64_MAX, 1).all) {}

  // Where two ranks are this far apart and a chunk is in this place of its block: from 0 to this.
  [[nodiscard]] std::int64_t kinds() const { return ranks_ / 2 * k_; }

  ExecutionPlan make(std::int64_t threadblocks) {
    ExecutionPlan plan;
    plan.collective = collective_;
    plan.in_place = options_.in_place;
    plan.unit_bytes = options_.shape.unit_bytes;
    plan.min_bytes = options_.min_bytes;
    plan.gpus = IdVector<Rank, PlanGpu>(box_of_.size());
    for (PlanGpu& gpu : plan.gpus) {
      gpu.input_chunks = collective_ == Collective::gather ? k_ : ranks_ * k_;
      gpu.output_chunks = collective_ == Collective::scatter ? k_ : ranks_ * k_;
      if (copies_first_) gpu.scratch_chunks = (ranks_ - 1) * k_;
    }
    std::vector<std::vector<PlanLeg>> legs(static_cast<std::size_t>(threadblocks));
    for (PlanLeg& leg : placed_legs(plan)) {
      legs[static_cast<std::size_t>(kind_of(*leg.message) * threadblocks / kinds())].push_back(leg);
    }
    for (std::size_t t = 0; t < legs.size(); ++t) {
      append_threadblocks(legs[t], static_cast<std::int64_t>(t), threadblocks, plan);
    }
    plan.max_bytes = schedule::max_bytes_of(options_, plan);
    return plan;
  }

 private:
  [[nodiscard]] std::int64_t kind_of(const AlltoallMessage& message) const {
    const std::int64_t ahead = (message.dst.value - message.src.value + ranks_) % ranks_;
    return (std::min(ahead, ranks_ - ahead) - 1) * k_ + message.first;
  }

  [[nodiscard]] Location block_of(Buffer buffer, Rank rank, std::int64_t chunk) const {
    return {buffer, rank.value * k_ + chunk};
  }
  // Where `dst` has what it gets.
  [[nodiscard]] Location result(Rank src, std::int64_t chunk) const {
    if (collective_ == Collective::scatter) return {Buffer::output, chunk};
    return block_of(copies_first_ ? Buffer::input : Buffer::output, src, chunk);
  }
  // Where a rank has what is for another; in place, of an all-to-all, the copy of it.
  [[nodiscard]] Location source(Rank src, Rank dst, std::int64_t chunk) const {
    if (collective_ == Collective::gather) return {Buffer::input, chunk};
    if (!copies_first_) return block_of(Buffer::input, dst, chunk);
    return block_of(Buffer::scratch, Rank(dst.value < src.value ? dst.value : dst.value - 1),
                    chunk);
  }

  std::vector<PlanLeg> placed_legs(ExecutionPlan& plan) const {
    std::vector<PlanLeg> legs;
    legs.reserve(messages_.size());
    for (const AlltoallMessage& message : messages_) {
      PlanLeg& leg = legs.emplace_back(PlanLeg{.message = &message, .from = {}, .at = {}});
      leg.from = source(message.src, message.dst, message.first);
      if (message.previous >= 0) {
        const PlanLeg& before = legs[static_cast<std::size_t>(message.previous)];
        leg.number = before.number + 1;
        leg.from = before.at;
      }
      leg.at = message.is_last ? result(message.src, message.first)
                               : Location{Buffer::scratch, plan.gpus[message.to].scratch_chunks++};
    }
    return legs;
  }

  void append_threadblocks(const std::vector<PlanLeg>& legs, std::int64_t number,
                           std::int64_t threadblocks, ExecutionPlan& plan) const {
    std::vector<LegWriter> writers;
    for (std::size_t r = 0; r < box_of_.size(); ++r) {
      writers.emplace_back(box_of_, Rank(r), plan.gpus[Rank(r)]);
      if (has_own(Rank(r))) copy_own(Rank(r), number, threadblocks, writers.back());
    }
    for (const PlanLeg& leg : legs) {
      const AlltoallMessage& message = *leg.message;
      writers[message.from.index()].send(leg);
      writers[message.to.index()].receive(leg);
      if (copies_first_ && leg.number == 0) {
        writers[message.src.index()].copy_before(
            block_of(Buffer::input, message.dst, message.first), leg.from);
      }
    }
    for (LegWriter& writer : writers) writer.finish();
  }

  // Something for itself, which lies elsewhere at the end.
  [[nodiscard]] bool has_own(Rank rank) const {
    return !options_.in_place && (!root_ || rank == *root_);
  }

  void copy_own(Rank rank, std::int64_t number, std::int64_t threadblocks,
                LegWriter& writer) const {
    for (std::int64_t chunk = number; chunk < k_; chunk += threadblocks) {
      writer.copy_own(source(rank, rank, chunk), result(rank, chunk));
    }
  }

  std::int64_t k_;
  Collective collective_;
  std::optional<Rank> root_;
  bool copies_first_;  // all that is for others, to scratch
  std::int64_t ranks_;
  const IdVector<Rank, std::int32_t>& box_of_;
  const PlanOptions& options_;
  std::vector<AlltoallMessage> messages_;
};

}  // namespace

Expected<ExecutionPlan> lower_paths_to_plan(const AlltoallRoutes& routes,
                                            const IdVector<NodeId, Rank>& rank_of,
                                            const IdVector<Rank, std::int32_t>& box_of,
                                            const Demand& demand, const PlanOptions& options) {
  FORESTCOLL_CHECK(demand.is_of_blocks(), "plans move equal blocks");
  FORESTCOLL_CHECK(options.max_threadblocks > 0, "a threadblock at least");
  FORESTCOLL_CHECK(options.shape.unit_bytes > 0 && options.shape.unit_bytes % 16 == 0,
                   "units of 16 bytes");
  if (options.any_buffers) {
    return make_error(Code::T06,
                      fmt::format("plans of {} put data into the buffers of callers, not any",
                                  to_string(demand.collective())),
                      "make it for the buffers of callers: MSCCL++ runs such plans for callers of "
                      "its executor alone, who allocate them");
  }
  if (options.in_place && demand.collective() == Collective::scatter && demand.root() != Rank(0)) {
    // Seen on a GPU: the executor adds the root's own offset to places in others' outputs.
    return make_error(Code::T06,
                      "MSCCL++ runs a scatter in place from rank 0 alone: from others it writes "
                      "behind the outputs",
                      "make it for calls out of place, or from rank 0");
  }
  PlanMaker maker(routes, rank_of, box_of, demand, options);
  // Fewer threadblocks have fewer channels, and more operations each.
  Diagnostics errors;
  std::int64_t threadblocks = std::min<std::int64_t>(maker.kinds(), options.max_threadblocks);
  for (; threadblocks > 0; threadblocks /= 2) {
    ExecutionPlan plan = maker.make(threadblocks);
    const auto done =
        schedule::refuse_plan(plan, "use a smaller `k`, or write the paths with `format=flows`");
    if (done) return plan;
    if (errors.empty()) errors = done.errors();
  }
  return errors;
}

}  // namespace forestcoll
