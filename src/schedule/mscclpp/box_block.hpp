// What all threadblocks have in common that join boxes of GPUs rail by rail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "schedule/mscclpp/blocks.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::schedule {

/// The ranks of each box.
using Boxes = std::vector<std::vector<Rank>>;

/// Of a GPU's switch channels: the inputs of its box, the scratch of a pair of GPUs, the outputs of
/// the box.
inline constexpr std::int32_t kInputs = 0, kPair = 1, kOutputs = 2;

/// What every threadblock has to itself: chunks of the buffer, as many of scratch for the sums of
/// either GPU of a pair, and further areas of scratch, of a chunk each.
struct BoxShape {
  std::int64_t chunks = 1, areas = 0;
};

/// The threadblock `part` of `parts` of a GPU.
class BoxBlock {
 public:
  struct Place {
    const Boxes& boxes;
    std::size_t box, gpu;  ///< `gpu` in its box
    std::int64_t part, parts;
  };
  BoxBlock(const Place& place, const BoxShape& shape, ExecutionPlan& plan);

  /// What `loop` says, for every round, between two barriers of the box and its rail.
  PlanThreadblock make(const std::function<void(BoxBlock&)>& loop);

  [[nodiscard]] std::size_t box() const { return place_.box; }
  [[nodiscard]] std::size_t boxes() const { return place_.boxes.size(); }
  /// Of the whole buffer.
  [[nodiscard]] std::int64_t own_chunk(std::int64_t chunk) const {
    return block_of(place_.gpu) * shape_.chunks + chunk;
  }
  /// Of scratch.
  [[nodiscard]] std::int64_t own_sum(std::int64_t chunk) const {
    return block_of(place_.gpu % 2) * shape_.chunks + chunk;
  }
  [[nodiscard]] std::int64_t own_area(std::int64_t area) const {
    return (2 * shape_.chunks + area) * place_.parts + place_.part;
  }

  static PlanSlice scratch(std::int64_t index, std::int32_t remote = -1) {
    return {.buffer = Buffer::scratch, .remote = remote, .index = index};
  }
  /// A place of the outputs of all GPUs of the box.
  [[nodiscard]] PlanSlice output(std::int64_t index) const {
    return {
        .buffer = in_place_ ? Buffer::input : Buffer::output, .index = index, .switched = kOutputs};
  }
  static PlanSlice input(std::int64_t index) {
    return {.buffer = Buffer::input, .index = index, .switched = kInputs};
  }
  static PlanSlice pair(std::int64_t index) {
    return {.buffer = Buffer::scratch, .index = index, .switched = kPair};
  }

  void add(PlanOperation::Kind kind, std::vector<PlanSlice> sources, PlanSlice destination);
  /// All threads have done what is before.
  void in_step() { block_.loop.emplace_back(); }
  /// To all GPUs of the rail, and from them: `ends(box)`, from and to which place of scratch.
  template <class Ends>
  void exchange(const Ends& ends) {
    for (std::size_t begin = 0; begin < others_.size(); begin += kMaxOperationChannels) {
      PlanOperation put;
      put.kind = PlanOperation::Kind::put;
      put.channel = PlanChannel::port;
      const std::size_t end = std::min(others_.size(), begin + kMaxOperationChannels);
      for (std::size_t n = begin; n < end; ++n) {
        const auto [from, to] = ends(others_[n]);
        put.channels.push_back(static_cast<std::int32_t>(n));
        put.sources.push_back(scratch(from));
        put.destinations.push_back(scratch(to, static_cast<std::int32_t>(n)));
      }
      PlanOperation signal = put;
      signal.kind = PlanOperation::Kind::signal;
      signal.sources.clear();
      signal.destinations.clear();
      block_.loop.push_back(std::move(put));
      block_.loop.push_back(std::move(signal));
    }
    on_ports(PlanOperation::Kind::wait, block_.loop);
    in_step();
  }
  /// All GPUs of the rail have come so far.
  void meet_on_rail();

 private:
  void meet(std::vector<PlanOperation>& operations);
  void on_ports(PlanOperation::Kind kind, std::vector<PlanOperation>& operations) const;

  [[nodiscard]] std::int64_t block_of(std::size_t gpu) const {
    return static_cast<std::int64_t>(gpu) * place_.parts + place_.part;
  }

  Place place_;
  BoxShape shape_;
  bool in_place_;
  std::vector<std::size_t> others_;  // boxes
  PlanThreadblock block_;
  std::vector<PlanOperation> barrier_;
};

/// The plan of boxes whose threadblocks do what `loop` says. REQUIRES: boxes of the same even
/// number of GPUs. Cost: linear in the plan.
[[nodiscard]] ExecutionPlan join_boxes(const Boxes& boxes, const BoxShape& shape,
                                       const PlanOptions& options,
                                       const std::function<void(BoxBlock&)>& loop);

/// Sums of two boxes, without stores through switches: see pair_plan.cpp. REQUIRES: two boxes of
/// the same even number of GPUs.
[[nodiscard]] ExecutionPlan make_pair_plan(const Boxes& boxes, const PlanOptions& options);

}  // namespace forestcoll::schedule
