// Boxes of GPUs whose switches copy and combine, joined rail by rail. A GPU has a share of the data
// to itself in its box, and on its rail a part of it:
//   1. it reads its share of all GPUs of its box, added up by the switch (`glres`);
//   2. it sends every GPU of its rail that one's part, adds up what it gets of its own part, and
//      sends the sum to all of them;
//   3. it stores its share for all GPUs of its box (`gstore`).
// The executor combines for a group only. So the sum goes to the scratch of a pair of GPUs, the
// smallest group there is, which costs each of them an eighth of the data in a box of eight.
// Releases that do not store through switches join two boxes as pair_plan.cpp says.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "schedule/mscclpp/box_block.hpp"
#include "schedule/mscclpp/messages_bound.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll {
namespace {

using Kind = PlanOperation::Kind;

constexpr std::size_t kMostBoxes = 9;  // an operation adds up ten
constexpr std::size_t kPairOfBoxes = 2;

Diagnostic no_box_plan(std::string why) {
  return make_error(Code::T06, std::move(why),
                    "write the forest with `format=forest`, or a plan of GPUs alone");
}

// The ranks of each box, by number.
schedule::Boxes ranks_of_boxes(const IdVector<Rank, std::int32_t>& box_of) {
  std::map<std::int32_t, std::vector<Rank>> boxes;
  for (std::size_t r = 0; r < box_of.size(); ++r) boxes[box_of[Rank(r)]].emplace_back(r);
  schedule::Boxes result;
  for (auto& [number, ranks] : boxes) result.push_back(std::move(ranks));
  return result;
}

// In the places of scratch after the sums lies what other boxes send.
class Rounds {
 public:
  explicit Rounds(schedule::BoxBlock& block)
      : block_(block), boxes_(static_cast<std::int64_t>(block.boxes())) {}

  void add() const {
    const auto own = static_cast<std::int64_t>(block_.box());
    for (std::int64_t box = 0; box < boxes_; ++box) {
      block_.add(Kind::combine, {BoxBlock::input(block_.own_chunk(box))},
                 BoxBlock::pair(block_.own_sum(box)));
    }
    block_.in_step();
    block_.exchange([&](std::size_t box) {
      const auto there = static_cast<std::int64_t>(box);
      return std::pair(block_.own_sum(there), block_.own_area(own < there ? own : own - 1));
    });
    add_up(own);
    block_.exchange(
        [&](std::size_t) { return std::pair(block_.own_sum(own), block_.own_sum(own)); });
    for (std::int64_t box = 0; box < boxes_; ++box) {
      block_.add(Kind::store, {BoxBlock::scratch(block_.own_sum(box))},
                 block_.output(block_.own_chunk(box)));
    }
  }

 private:
  using BoxBlock = schedule::BoxBlock;

  void add_up(std::int64_t own) const {
    std::vector<PlanSlice> sums = {BoxBlock::scratch(block_.own_sum(own))};
    for (std::int64_t sender = 0; sender + 1 < boxes_; ++sender) {
      sums.push_back(BoxBlock::scratch(block_.own_area(sender)));
    }
    block_.add(Kind::reduce, std::move(sums), BoxBlock::scratch(block_.own_sum(own)));
    block_.in_step();
  }

  BoxBlock& block_;
  std::int64_t boxes_;
};

}  // namespace

Expected<ExecutionPlan> make_box_plan(const IdVector<Rank, std::int32_t>& box_of,
                                      const PlanOptions& options) {
  FORESTCOLL_CHECK(options.max_threadblocks > 0, "a threadblock at least");
  if (options.any_buffers) {
    return no_box_plan("switches of several boxes reach the buffers of callers, not any buffers");
  }
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
  if (!options.switch_stores && boxes.size() != kPairOfBoxes) {
    return make_error(
        Code::T06,
        fmt::format("{} boxes: MSCCL++ 0.9 does not store through switches (gstore), and only two "
                    "boxes do without",
                    boxes.size()),
        "use MSCCL++ 0.10 (`target=mscclpp-0.10`), or a plan of GPUs alone");
  }
  const auto count = static_cast<std::int64_t>(boxes.size());
  ExecutionPlan plan =
      options.switch_stores
          ? schedule::join_boxes(boxes, {.chunks = count, .areas = count - 1}, options,
                                 [](schedule::BoxBlock& block) { Rounds(block).add(); })
          : schedule::make_pair_plan(boxes, options);
  if (const auto done = schedule::refuse_long_messages(plan); !done) return done.errors();
  return plan;
}

}  // namespace forestcoll
