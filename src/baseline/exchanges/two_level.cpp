// Over the boxes first, along the rail of the root, then within each of them: little of what a box
// gets crosses its NICs more than once, and most of it is handed on by its own links.
#include <algorithm>
#include <utility>

#include "baseline/boxes.hpp"
#include "baseline/exchanges/grown_trees.hpp"
#include "baseline/makers.hpp"

namespace forestcoll::baseline {
namespace {

class TwoLevels {
 public:
  TwoLevels(const Request& request, Boxes boxes)
      : boxes_(std::move(boxes)), box_(request.network.ranks.size()), place_(box_.size()) {
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      const auto& members = boxes_.members[b];
      largest_ = std::max(largest_, members.size());
      for (std::size_t i = 0; i < members.size(); ++i) {
        box_[members[i]] = b;
        place_[members[i]] = i;
      }
    }
  }

  [[nodiscard]] std::size_t boxes() const { return boxes_.size(); }
  [[nodiscard]] std::size_t largest() const { return largest_; }
  [[nodiscard]] const std::vector<Rank>& beside(Rank rank) const {
    return boxes_.members[box_[rank]];
  }
  // Of the root's rail in the box that is so many further: the GPU of its place, or where a box is
  // smaller, the one that is left of counting round.
  [[nodiscard]] Rank on_rail(Rank root, std::size_t further) const {
    const auto& members = boxes_.members[(box_[root] + further) % boxes()];
    return members[place_[root] % members.size()];
  }
  // How many boxes its own is beyond the root's; how many places it is beyond the root's rail.
  [[nodiscard]] std::size_t boxes_from(Rank root, Rank rank) const {
    return (box_[rank] + boxes() - box_[root]) % boxes();
  }
  [[nodiscard]] std::size_t places_from(Rank root, Rank rank) const {
    const std::size_t size = beside(rank).size();
    return (place_[rank] + size - place_[root] % size) % size;
  }
  [[nodiscard]] Rank beside(Rank root, Rank rank, std::size_t places) const {
    const auto& members = beside(rank);
    return members[(place_[root] + places) % members.size()];
  }

 private:
  Boxes boxes_;
  IdVector<Rank, std::size_t> box_, place_;
  std::size_t largest_ = 0;
};

Expected<TwoLevels> levels_of(const Request& request) {
  auto boxes = several_boxes(request.topology, request.network);
  if (!boxes) return boxes.errors();
  return TwoLevels(request, *std::move(boxes));
}

// How far a tree goes on in a step, the farthest first, from what is so far from its root.
std::size_t next_of_pat(std::size_t from, std::size_t steps, std::size_t step) {
  return from + (std::size_t{1} << (steps - 1 - step));
}

// Along the rail in so many steps, then within the boxes by what `within` says of each later step.
Expected<BaselineResult> pat_and(const Request& request, const TwoLevels& levels,
                                 std::size_t steps_within, const Handing& within) {
  const std::size_t over = binomial_steps(levels.boxes());
  const auto hand = [&](Rank root, Rank holder, std::size_t step) {
    if (step >= over) return within(root, holder, step - over);
    const std::size_t next = next_of_pat(levels.boxes_from(root, holder), over, step);
    if (next >= levels.boxes()) return std::vector<Rank>();
    return std::vector<Rank>{levels.on_rail(root, next)};
  };
  return carry_out(request, [&](const Network& network) {
    return grow_trees(request, network, over + steps_within, hand);
  });
}

}  // namespace

Expected<BaselineResult> two_level_direct(const Request& request) {
  const auto levels = levels_of(request);
  if (!levels) return levels.errors();
  const auto hand = [&](Rank root, Rank holder, std::size_t step) {
    if (step == 1) return levels->beside(holder);
    std::vector<Rank> rail;
    for (std::size_t b = 1; b < levels->boxes(); ++b) rail.push_back(levels->on_rail(root, b));
    return rail;
  };
  return carry_out(request,
                   [&](const Network& network) { return grow_trees(request, network, 2, hand); });
}

Expected<BaselineResult> rail_pat(const Request& request) {
  const auto levels = levels_of(request);
  if (!levels) return levels.errors();
  return pat_and(request, *levels, 1,
                 [&](Rank, Rank holder, std::size_t) { return levels->beside(holder); });
}

Expected<BaselineResult> two_level_pat(const Request& request) {
  const auto levels = levels_of(request);
  if (!levels) return levels.errors();
  const std::size_t steps = binomial_steps(levels->largest());
  return pat_and(request, *levels, steps, [&](Rank root, Rank holder, std::size_t step) {
    const std::size_t next = next_of_pat(levels->places_from(root, holder), steps, step);
    if (next >= levels->beside(holder).size()) return std::vector<Rank>();
    return std::vector<Rank>{levels->beside(root, holder, next)};
  });
}

}  // namespace forestcoll::baseline
