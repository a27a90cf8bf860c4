// The shape of the all-pairs schedules that AMD's RCCL and Microsoft's MSCCL ship for boxes of
// eight.
#include "schedule/exchange/all_pairs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace forestcoll::schedule {
namespace {

constexpr std::int64_t kMostSlices = 8;  // as many operations in flight as LL has room for
constexpr std::int64_t kInFlightInSimple = 2;
// Additions in a row into one place that runtimes make one, of which they hold so many.
constexpr std::size_t kMostFused = 16;

// What all ranks have in common.
struct Layout {
  std::size_t ranks = 0;
  AllPairs shape;
  bool acquires_outputs = false;  // of the target: name what a waiting step sends as output
  std::int64_t slices = 1;

  [[nodiscard]] std::int64_t chunks_of_channel() const {
    return (shape.in_two ? static_cast<std::int64_t>(ranks) : 1) * slices;
  }
  [[nodiscard]] std::int64_t scratch_of_channel() const {
    return static_cast<std::int64_t>(ranks - 1) * slices;
  }
};

// The program of one rank on one channel. Threadblock p is that of partner p, and sums slice p.
class ChannelWriter {
 public:
  ChannelWriter(const Layout& layout, Rank self, std::int32_t channel, RankProgram& program)
      : layout_(layout),
        self_(self),
        channel_(channel),
        program_(program),
        first_(static_cast<std::int32_t>(program.threadblocks.size())) {
    for (std::size_t v = 0; v < layout.ranks; ++v) {
      if (Rank(v) != self) partners_.emplace_back(v);
    }
  }

  void write() {
    for (std::int32_t p = 0; p < partner_count(); ++p) meet(p);
    if (has_spare_block()) {
      add_block(Rank());
      if (layout_.shape.out_of_place) {
        push(partner_count(), Operation::copy, part_of(self_), sum_of(self_), layout_.slices);
        arrived_.push_back(static_cast<std::int32_t>(steps(partner_count()).size()) - 1);
      }
    }
    for (std::int32_t slice = 0; slice < layout_.slices; ++slice) sum(slice);
    if (!layout_.shape.in_two) return;
    for (std::int32_t p = 0; p < partner_count(); ++p) hand_over(p);
  }

 private:
  [[nodiscard]] std::int32_t partner_count() const {
    return static_cast<std::int32_t>(partners_.size());
  }
  // It has no partner; out of place it copies what is the rank's own while messages are on their
  // way, which the others do for the slices that they sum where there is none.
  [[nodiscard]] bool has_spare_block() const { return partner_count() < layout_.slices; }
  [[nodiscard]] Rank partner(std::int32_t p) const {
    return partners_[static_cast<std::size_t>(p)];
  }
  // What `owner` sums: in one shot everything, whoever that is.
  [[nodiscard]] Slice part_of(Rank owner, std::int64_t slice = 0) const {
    const std::int64_t part = layout_.shape.in_two ? static_cast<std::int64_t>(owner.index()) : 0;
    return {Buffer::input, channel_ * layout_.chunks_of_channel() + part * layout_.slices + slice};
  }
  // Its sum.
  [[nodiscard]] Slice sum_of(Rank owner, std::int64_t slice = 0) const {
    Slice sum = part_of(owner, slice);
    if (layout_.shape.out_of_place) sum.buffer = Buffer::output;
    return sum;
  }
  [[nodiscard]] Slice received(std::int32_t p, std::int64_t slice = 0) const {
    return {Buffer::scratch, channel_ * layout_.scratch_of_channel() + p * layout_.slices + slice};
  }

  void add_block(Rank other) {
    Threadblock block;
    block.send_peer = block.recv_peer = other;
    block.channel = channel_;
    program_.threadblocks.push_back(std::move(block));
  }
  std::vector<Step>& steps(std::int32_t block) {
    return program_.threadblocks[static_cast<std::size_t>(first_) + static_cast<std::size_t>(block)]
        .steps;
  }
  void push(std::int32_t block, Operation operation, Slice src, Slice dst, std::int64_t count = 1) {
    steps(block).push_back(
        {.operation = operation, .src = src, .dst = dst, .count = count, .depends_on = {}});
  }
  // `step`, once every block's step in `ends` is done: a nop in front for each but the last.
  void push_after(std::int32_t block, const std::vector<std::int32_t>& ends, Step step) {
    std::vector<StepRef> awaited;
    for (std::int32_t other = 0; other < static_cast<std::int32_t>(ends.size()); ++other) {
      if (other == block) continue;
      const std::int32_t end = ends[static_cast<std::size_t>(other)];
      steps(other)[static_cast<std::size_t>(end)].has_dependent = true;
      awaited.push_back({first_ + other, end});
    }
    for (std::size_t i = 0; i + 1 < awaited.size(); ++i) {
      Step nop;
      nop.src = nop.dst = step.src;
      nop.depends_on = awaited[i];
      steps(block).push_back(nop);
    }
    if (!awaited.empty()) step.depends_on = awaited.back();
    steps(block).push_back(step);
  }

  void meet(std::int32_t p) {
    add_block(partner(p));
    push(p, Operation::send, part_of(partner(p)), part_of(partner(p)), layout_.slices);
    if (layout_.shape.out_of_place && !has_spare_block() && p < layout_.slices) {
      push(p, Operation::copy, part_of(self_, p), sum_of(self_, p));
    }
    push(p, Operation::recv, received(p), received(p), layout_.slices);
    arrived_.push_back(static_cast<std::int32_t>(steps(p).size()) - 1);
  }

  // In the order of the ranks. The sum of those before this one replaces the first of them; with
  // this one's own data the sum takes the place of these, or of their copy.
  void sum(std::int32_t slice) {
    const Slice own = sum_of(self_, slice);
    const auto before = static_cast<std::int32_t>(self_.index());
    std::vector<Step> additions;
    const auto add = [&](Slice src, Slice dst) {
      additions.push_back(
          {.operation = Operation::reduce, .src = src, .dst = dst, .depends_on = {}});
    };
    for (std::int32_t p = 1; p < before; ++p) add(received(p, slice), received(0, slice));
    if (before > 0) add(received(0, slice), own);
    for (std::int32_t p = before; p < partner_count(); ++p) add(received(p, slice), own);
    end_long_rows(additions);
    push_after(slice, arrived_, additions.front());
    for (std::size_t i = 1; i < additions.size(); ++i) steps(slice).push_back(additions[i]);
    summed_.push_back(static_cast<std::int32_t>(steps(slice).size()) - 1);
  }

  // A step that says that others wait for it ends a row, whether or not they do.
  static void end_long_rows(std::vector<Step>& additions) {
    std::size_t in_row = 0;
    for (std::size_t i = 0; i < additions.size(); ++i) {
      const auto place = [&](std::size_t at) {
        return std::pair(additions[at].dst.buffer, additions[at].dst.offset);
      };
      const bool goes_on = i > 0 && place(i) == place(i - 1);
      in_row = goes_on && in_row < kMostFused ? in_row + 1 : 1;
      additions[i].has_dependent = in_row == kMostFused;
    }
  }

  void hand_over(std::int32_t p) {
    Slice sum = sum_of(self_);
    if (layout_.acquires_outputs) sum.buffer = Buffer::output;
    push_after(p, summed_,
               {.operation = Operation::send,
                .src = sum,
                .dst = sum,
                .count = layout_.slices,
                .depends_on = {}});
    push(p, Operation::recv, sum_of(partner(p)), sum_of(partner(p)), layout_.slices);
  }

  const Layout& layout_;
  Rank self_;
  std::int32_t channel_;
  RankProgram& program_;
  std::int32_t first_;  // of its threadblocks
  std::vector<Rank> partners_;
  // Steps that all sums wait for, and that end a sum, by block.
  std::vector<std::int32_t> arrived_, summed_;
};

}  // namespace

std::int64_t slices_of(std::size_t ranks) {
  return std::min(static_cast<std::int64_t>(ranks), kMostSlices);
}

std::optional<std::int64_t> most_in_simple(std::size_t ranks, std::int32_t channels,
                                           const AllPairs& shape, std::int64_t pass_bytes) {
  const Layout layout{ranks, shape, false, slices_of(ranks)};
  if (layout.slices <= kInFlightInSimple) return std::nullopt;
  const std::int64_t of_operation = (layout.slices + kInFlightInSimple - 1) / kInFlightInSimple;
  return channels * layout.chunks_of_channel() * (pass_bytes / of_operation);
}

Schedule all_pairs(std::size_t ranks, std::int32_t channels, const AllPairs& shape,
                   const TargetLimits& target) {
  const Layout layout{ranks, shape, target.acquires_outputs, slices_of(ranks)};
  Schedule result;
  result.target = target.name;
  result.collective = Collective::allreduce;
  result.channels = channels;
  result.in_place = !shape.out_of_place;
  result.out_of_place = shape.out_of_place;
  result.chunks = channels * layout.chunks_of_channel();
  result.programs = IdVector<Rank, RankProgram>(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    RankProgram& program = result.programs[Rank(r)];
    program.input_chunks = program.output_chunks = result.chunks;
    program.scratch_chunks = channels * layout.scratch_of_channel();
    for (std::int32_t c = 0; c < channels; ++c) {
      ChannelWriter(layout, Rank(r), c, program).write();
    }
  }
  return result;
}

}  // namespace forestcoll::schedule
