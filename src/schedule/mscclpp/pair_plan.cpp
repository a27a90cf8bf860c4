// Two boxes of GPUs whose switches copy and combine, for releases of MSCCL++ that combine in
// switches
// (`glres`) but do not store through them. Combining is the only way to hand data to all GPUs of a
// box at once, so the last sum, of the two boxes, is formed there:
//   1. a GPU reads its share of all GPUs of its box, added up by the switch, into its scratch and
//      that of its partner, the other of a pair;
//   2. it puts its box's sum in place of the other box's, at the GPU of its rail;
//   3. where it has the other box's sum now, its partner still has its own box's: it reads the two,
//      added up by the switch, for all GPUs of its box.
// Two sums are the same in either order, so all ranks have the same bits; of three boxes they would
// not be. What is put is a copy, as the other's sum may arrive before it is sent.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "schedule/mscclpp/box_block.hpp"

namespace forestcoll::schedule {
namespace {

using Kind = PlanOperation::Kind;

constexpr std::int64_t kCopies = 0;  // the area of scratch
constexpr BoxShape kShape = {.chunks = 1, .areas = 1};

void add_rounds(BoxBlock& block) {
  const std::int64_t chunk = block.own_chunk(0), sum = block.own_sum(0);
  const std::int64_t copy = block.own_area(kCopies);
  block.add(Kind::combine, {BoxBlock::input(chunk)}, BoxBlock::pair(sum));
  block.in_step();
  block.add(Kind::copy, {BoxBlock::scratch(sum)}, BoxBlock::scratch(copy));
  block.in_step();
  block.meet_on_rail();
  block.exchange([&](std::size_t) { return std::pair(copy, sum); });
  block.add(Kind::combine, {BoxBlock::pair(sum)}, block.output(chunk));
}

}  // namespace

ExecutionPlan make_pair_plan(const Boxes& boxes, const PlanOptions& options) {
  return join_boxes(boxes, kShape, options, add_rounds);
}

}  // namespace forestcoll::schedule
