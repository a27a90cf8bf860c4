// Everybody sends to everybody at once: the trees are stars. An allgather, a reduce-scatter, a
// broadcast or a reduce takes one shot; an allreduce two, one for the sums and one for the results.
// The fewest steps that trees can have, and the most messages.

#include "baseline/boxes.hpp"
#include "baseline/exchanges/grown_trees.hpp"
#include "baseline/makers.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {

Expected<BaselineResult> direct(const Request& request) {
  const std::size_t n = request.network.ranks.size();
  const auto to_all_others = [n](Rank root, Rank, std::size_t) {
    std::vector<Rank> others;
    for (std::size_t v = 0; v < n; ++v) {
      if (Rank(v) != root) others.emplace_back(v);
    }
    return others;
  };
  return carry_out(request, [&](const Network& network) {
    return grow_trees(request, network, 1, to_all_others);
  });
}

Expected<BaselineResult> two_level_direct(const Request& request) {
  const Boxes boxes = group_boxes(request.topology, request.network);
  if (boxes.size() < 2) {
    return make_error(Code::B02, "all GPUs are in one box, and two levels need several",
                      "compare with one-shot, or two-shot");
  }
  IdVector<Rank, std::size_t> box(request.network.ranks.size()), place(box.size());
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const auto& members = boxes.members[b];
    for (std::size_t i = 0; i < members.size(); ++i) {
      box[members[i]] = b;
      place[members[i]] = i;
    }
  }
  // First to the place of the root in all boxes, or where a box is smaller, the one that is left
  // of counting round; then within the boxes.
  const auto hand = [&](Rank root, Rank holder, std::size_t step) {
    if (step == 1) return boxes.members[box[holder]];
    std::vector<Rank> rail;
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      const auto& members = boxes.members[b];
      if (b != box[root]) rail.push_back(members[place[root] % members.size()]);
    }
    return rail;
  };
  return carry_out(request,
                   [&](const Network& network) { return grow_trees(request, network, 2, hand); });
}

}  // namespace forestcoll::baseline
