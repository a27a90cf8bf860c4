// Boxes of GPUs whose switches copy and combine, joined rail by rail. A GPU has a share of the data
// to itself in its box, and on its rail a part of it:
//   1. it reads its share of all GPUs of its box, added up by the switch (`glres`);
//   2. it sends every GPU of its rail that one's part, adds up what it gets of its own part, and
//      sends the sum to all of them;
//   3. it stores its share for all GPUs of its box (`gstore`).
// The executor combines for a group only. So the sum goes to the scratch of a pair of GPUs, the
// smallest group there is, which costs each of them an eighth of the data in a box of eight.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "schedule/mscclpp/barrier.hpp"
#include "schedule/mscclpp/blocks.hpp"
#include "schedule/mscclpp/messages_bound.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll {
namespace {

using schedule::kMaxOperationChannels;
using Kind = PlanOperation::Kind;

constexpr std::int32_t kMostBoxBlocks = 16;
constexpr std::size_t kMostBoxes = 9;  // an operation adds up ten
constexpr std::size_t kPort = static_cast<std::size_t>(PlanChannel::port);

// Of the GPU's lists.
constexpr std::int32_t kInputs = 0, kPair = 1, kOutputs = 2;

Diagnostic no_box_plan(std::string why) {
  return make_error(Code::T06, std::move(why),
                    "write the forest with `format=forest`, or a plan of GPUs alone");
}

// The ranks of each box, by number.
std::vector<std::vector<Rank>> ranks_of_boxes(const IdVector<Rank, std::int32_t>& box_of) {
  std::map<std::int32_t, std::vector<Rank>> boxes;
  for (std::size_t r = 0; r < box_of.size(); ++r) boxes[box_of[Rank(r)]].emplace_back(r);
  std::vector<std::vector<Rank>> result;
  for (auto& [number, ranks] : boxes) result.push_back(std::move(ranks));
  return result;
}

/// The threadblock `part` of the GPU in place `gpu` of its box.
class BoxBlock {
 public:
  BoxBlock(const std::vector<std::vector<Rank>>& boxes, std::size_t box, std::size_t gpu,
           std::int64_t part, std::int64_t parts, ExecutionPlan& plan)
      : boxes_(boxes),
        box_(box),
        gpu_(gpu),
        part_(part),
        parts_(parts),
        in_place_(plan.in_place),
        own_(plan.gpus[boxes[box][gpu]]) {
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      if (b != box) others_.push_back(b);
    }
    block_.switch_channels = {kInputs, kPair, kOutputs};
    auto& ports = own_.peers[kPort];
    for (std::size_t n = 0; n < others_.size(); ++n) {
      block_.channels[kPort].push_back(static_cast<std::int32_t>(ports.size()));
      ports.push_back(boxes[others_[n]][gpu]);
      block_.remote_buffers[kPort].push_back(static_cast<std::int32_t>(n));
    }
  }

  PlanThreadblock make() {
    const std::vector<Rank>& ranks = boxes_[box_];
    const schedule::Barrier barrier(ranks, boxes_[box_][gpu_], own_, block_);
    barrier.append(block_.before);
    on_ports(Kind::signal, block_.before);
    on_ports(Kind::wait, block_.before);
    block_.before.emplace_back();
    combine();
    exchange([&](std::size_t box) { return std::pair(sum(box), received(box)); });
    add_up();
    exchange([&](std::size_t) { return std::pair(sum(box_), sum(box_)); });
    store();
    barrier.append(block_.after);
    on_ports(Kind::signal, block_.after);
    on_ports(Kind::wait, block_.after);
    return std::move(block_);
  }

 private:
  [[nodiscard]] std::int64_t boxes() const { return std::ssize(boxes_); }
  // Of the whole buffer: this GPU's share, and in it the part of its rail's GPU in a box.
  [[nodiscard]] std::int64_t chunk(std::size_t box) const {
    return (static_cast<std::int64_t>(gpu_) * parts_ + part_) * boxes() +
           static_cast<std::int64_t>(box);
  }
  // Of scratch, at this GPU and at the others of its rail: sums of boxes, two GPUs' of a pair.
  [[nodiscard]] std::int64_t sum(std::size_t box) const {
    return (static_cast<std::int64_t>(gpu_ % 2) * parts_ + part_) * boxes() +
           static_cast<std::int64_t>(box);
  }
  // Of scratch at the GPU in `box`: what it gets from this one.
  [[nodiscard]] std::int64_t received(std::size_t box) const {
    return place(box_ < box ? box_ : box_ - 1);
  }
  [[nodiscard]] std::int64_t place(std::size_t sender) const {
    return 2 * parts_ * boxes() + static_cast<std::int64_t>(sender) * parts_ + part_;
  }

  static PlanSlice scratch(std::int64_t index, std::int32_t remote = -1) {
    return {.buffer = Buffer::scratch, .remote = remote, .index = index};
  }

  void combine() {
    for (std::size_t box = 0; box < boxes_.size(); ++box) {
      PlanOperation operation;
      operation.kind = Kind::combine;
      operation.sources = {{.buffer = Buffer::input, .index = chunk(box), .switched = kInputs}};
      operation.destinations = {{.buffer = Buffer::scratch, .index = sum(box), .switched = kPair}};
      block_.loop.push_back(std::move(operation));
    }
    block_.loop.emplace_back();
  }

  // To all GPUs of the rail, and from them. `ends`: from and to which place of scratch.
  template <class Ends>
  void exchange(const Ends& ends) {
    for (std::size_t begin = 0; begin < others_.size(); begin += kMaxOperationChannels) {
      PlanOperation put;
      put.kind = Kind::put;
      put.channel = PlanChannel::port;
      const std::size_t end = std::min(others_.size(), begin + kMaxOperationChannels);
      for (std::size_t n = begin; n < end; ++n) {
        const auto [from, to] = ends(others_[n]);
        put.channels.push_back(static_cast<std::int32_t>(n));
        put.sources.push_back(scratch(from));
        put.destinations.push_back(scratch(to, static_cast<std::int32_t>(n)));
      }
      PlanOperation signal = put;
      signal.kind = Kind::signal;
      signal.sources.clear();
      signal.destinations.clear();
      block_.loop.push_back(std::move(put));
      block_.loop.push_back(std::move(signal));
    }
    on_ports(Kind::wait, block_.loop);
    block_.loop.emplace_back();
  }

  void add_up() {
    PlanOperation operation;
    operation.kind = Kind::reduce;
    operation.sources = {scratch(sum(box_))};
    for (std::size_t sender = 0; sender < others_.size(); ++sender) {
      operation.sources.push_back(scratch(place(sender)));
    }
    operation.destinations = {scratch(sum(box_))};
    block_.loop.push_back(std::move(operation));
    block_.loop.emplace_back();
  }

  void store() {
    for (std::size_t box = 0; box < boxes_.size(); ++box) {
      PlanOperation operation;
      operation.kind = Kind::store;
      operation.sources = {scratch(sum(box))};
      operation.destinations = {{.buffer = in_place_ ? Buffer::input : Buffer::output,
                                 .index = chunk(box),
                                 .switched = kOutputs}};
      block_.loop.push_back(std::move(operation));
    }
  }

  void on_ports(Kind kind, std::vector<PlanOperation>& operations) const {
    for (std::size_t begin = 0; begin < others_.size(); begin += kMaxOperationChannels) {
      PlanOperation operation;
      operation.kind = kind;
      operation.channel = PlanChannel::port;
      for (std::size_t n = begin; n < std::min(others_.size(), begin + kMaxOperationChannels);
           ++n) {
        operation.channels.push_back(static_cast<std::int32_t>(n));
      }
      operations.push_back(std::move(operation));
    }
  }

  const std::vector<std::vector<Rank>>& boxes_;
  std::size_t box_, gpu_;
  std::int64_t part_, parts_;
  bool in_place_;
  PlanGpu& own_;
  std::vector<std::size_t> others_;  // boxes
  PlanThreadblock block_;
};

void begin_gpu(const std::vector<std::vector<Rank>>& boxes, std::size_t box, std::size_t gpu,
               std::int64_t parts, ExecutionPlan& plan) {
  PlanGpu& own = plan.gpus[boxes[box][gpu]];
  const auto count = static_cast<std::int64_t>(boxes.size());
  own.input_chunks = own.output_chunks = std::ssize(boxes[box]) * count * parts;
  own.scratch_chunks = (2 * count + count - 1) * parts;
  const std::size_t first = gpu - gpu % 2;
  own.switch_groups = {
      {Buffer::input, boxes[box]},
      {Buffer::scratch, {boxes[box][first], boxes[box][first + 1]}},
      {plan.in_place ? Buffer::input : Buffer::output, boxes[box]},
  };
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    if (b == box) continue;
    own.remote_buffers.push_back({boxes[b][gpu], Buffer::scratch, PlanChannel::port});
  }
}

}  // namespace

Expected<ExecutionPlan> make_box_plan(const IdVector<Rank, std::int32_t>& box_of,
                                      const PlanOptions& options) {
  FORESTCOLL_CHECK(options.max_threadblocks > 0, "a threadblock at least");
  const auto boxes = ranks_of_boxes(box_of);
  const std::size_t size = boxes.front().size();
  const bool alike = std::all_of(boxes.begin(), boxes.end(),
                                 [&](const auto& ranks) { return ranks.size() == size; });
  if (*std::min_element(box_of.begin(), box_of.end()) < 0 || boxes.size() < 2 || !alike ||
      size % 2 != 0) {
    return no_box_plan("switch channels are for boxes of the same even number of GPUs");
  }
  if (boxes.size() > kMostBoxes) {
    return no_box_plan(
        fmt::format("{} boxes: an operation of MSCCL++ adds up at most 10 chunks", boxes.size()));
  }
  const auto per_block = static_cast<std::int64_t>(boxes.size()) - 1;
  const auto parts =
      std::min<std::int64_t>({options.max_threadblocks, kMostBoxBlocks,
                              static_cast<std::int64_t>(schedule::kMaxPortChannels) / per_block});
  ExecutionPlan plan;
  plan.collective = Collective::allreduce;
  plan.in_place = options.in_place;
  plan.unit_bytes = options.unit_bytes;
  plan.min_bytes = options.min_bytes;
  plan.gpus = IdVector<Rank, PlanGpu>(box_of.size());
  for (std::size_t box = 0; box < boxes.size(); ++box) {
    for (std::size_t gpu = 0; gpu < size; ++gpu) {
      begin_gpu(boxes, box, gpu, parts, plan);
      for (std::int64_t part = 0; part < parts; ++part) {
        plan.gpus[boxes[box][gpu]].threadblocks.push_back(
            BoxBlock(boxes, box, gpu, part, parts, plan).make());
      }
    }
  }
  plan.max_bytes = schedule::max_bytes_of(options, plan);
  if (const auto done = schedule::refuse_long_messages(plan); !done) return done.errors();
  return plan;
}

}  // namespace forestcoll
