// Everybody sends to everybody at once: the trees are stars. An allgather, a reduce-scatter, a
// broadcast or a reduce takes one shot; an allreduce two, one for the sums and one for the results.
// The fewest steps that trees can have, and the most messages.
#include "baseline/exchanges/grown_trees.hpp"
#include "baseline/makers.hpp"

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

}  // namespace forestcoll::baseline
