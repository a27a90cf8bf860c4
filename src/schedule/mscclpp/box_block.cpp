#include "schedule/mscclpp/box_block.hpp"

#include "schedule/mscclpp/barrier.hpp"
#include "schedule/mscclpp/messages_bound.hpp"

namespace forestcoll::schedule {
namespace {

constexpr std::int64_t kMostBoxBlocks = 16;
constexpr std::size_t kPort = static_cast<std::size_t>(PlanChannel::port);

// Every threadblock has port channels to all other boxes.
std::int64_t blocks_for(std::size_t boxes, const PlanOptions& options) {
  return std::min<std::int64_t>({options.max_threadblocks, kMostBoxBlocks,
                                 static_cast<std::int64_t>(kMaxPortChannels / (boxes - 1))});
}

// The GPU's switch channels, and the scratch of those of its rail.
void open_channels(const Boxes& boxes, std::size_t box, std::size_t gpu, bool in_place,
                   PlanGpu& own) {
  const std::vector<Rank>& ranks = boxes[box];
  const std::size_t first = gpu - gpu % 2;
  own.switch_groups = {
      {Buffer::input, ranks},
      {Buffer::scratch, {ranks[first], ranks[first + 1]}},
      {in_place ? Buffer::input : Buffer::output, ranks},
  };
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    if (b == box) continue;
    own.remote_buffers.push_back({boxes[b][gpu], Buffer::scratch, PlanChannel::port});
  }
}

}  // namespace

BoxBlock::BoxBlock(const Place& place, const BoxShape& shape, ExecutionPlan& plan)
    : place_(place), shape_(shape), in_place_(plan.in_place) {
  const Rank own = place.boxes[place.box][place.gpu];
  PlanGpu& gpu = plan.gpus[own];
  for (std::size_t b = 0; b < place.boxes.size(); ++b) {
    if (b != place.box) others_.push_back(b);
  }
  block_.switch_channels = {kInputs, kPair, kOutputs};
  auto& ports = gpu.peers[kPort];
  for (std::size_t n = 0; n < others_.size(); ++n) {
    block_.channels[kPort].push_back(static_cast<std::int32_t>(ports.size()));
    ports.push_back(place.boxes[others_[n]][place.gpu]);
    block_.remote_buffers[kPort].push_back(static_cast<std::int32_t>(n));
  }
  Barrier(place.boxes[place.box], own, gpu, block_).append(barrier_);
}

PlanThreadblock BoxBlock::make(const std::function<void(BoxBlock&)>& loop) {
  meet(block_.before);
  block_.before.emplace_back();
  loop(*this);
  meet(block_.after);
  return std::move(block_);
}

void BoxBlock::add(PlanOperation::Kind kind, std::vector<PlanSlice> sources,
                   PlanSlice destination) {
  PlanOperation operation;
  operation.kind = kind;
  operation.sources = std::move(sources);
  operation.destinations = {destination};
  block_.loop.push_back(std::move(operation));
}

void BoxBlock::meet_on_rail() {
  on_ports(PlanOperation::Kind::signal, block_.loop);
  on_ports(PlanOperation::Kind::wait, block_.loop);
  in_step();
}

void BoxBlock::meet(std::vector<PlanOperation>& operations) {
  operations.insert(operations.end(), barrier_.begin(), barrier_.end());
  on_ports(PlanOperation::Kind::signal, operations);
  on_ports(PlanOperation::Kind::wait, operations);
}

void BoxBlock::on_ports(PlanOperation::Kind kind, std::vector<PlanOperation>& operations) const {
  for (std::size_t begin = 0; begin < others_.size(); begin += kMaxOperationChannels) {
    PlanOperation operation;
    operation.kind = kind;
    operation.channel = PlanChannel::port;
    for (std::size_t n = begin; n < std::min(others_.size(), begin + kMaxOperationChannels); ++n) {
      operation.channels.push_back(static_cast<std::int32_t>(n));
    }
    operations.push_back(std::move(operation));
  }
}

ExecutionPlan join_boxes(const Boxes& boxes, const BoxShape& shape, const PlanOptions& options,
                         const std::function<void(BoxBlock&)>& loop) {
  const std::int64_t parts = blocks_for(boxes.size(), options);
  ExecutionPlan plan;
  plan.collective = Collective::allreduce;
  plan.in_place = options.in_place;
  plan.unit_bytes = options.shape.unit_bytes;
  plan.min_bytes = options.min_bytes;
  plan.gpus = IdVector<Rank, PlanGpu>(boxes.size() * boxes.front().size());
  for (std::size_t box = 0; box < boxes.size(); ++box) {
    for (std::size_t gpu = 0; gpu < boxes[box].size(); ++gpu) {
      PlanGpu& own = plan.gpus[boxes[box][gpu]];
      open_channels(boxes, box, gpu, plan.in_place, own);
      own.input_chunks = own.output_chunks = std::ssize(boxes[box]) * shape.chunks * parts;
      own.scratch_chunks = (2 * shape.chunks + shape.areas) * parts;
      for (std::int64_t part = 0; part < parts; ++part) {
        BoxBlock block({boxes, box, gpu, part, parts}, shape, plan);
        own.threadblocks.push_back(block.make(loop));
      }
    }
  }
  plan.max_bytes = max_bytes_of(options, plan);
  return plan;
}

}  // namespace forestcoll::schedule
