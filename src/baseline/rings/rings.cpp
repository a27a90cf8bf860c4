#include "baseline/rings/rings.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace forestcoll::baseline {

Ring turned_round(const Ring& ring) {
  Ring turned{{ring.order.rbegin(), ring.order.rend()}, {}};
  // The path into a rank comes first now: that into the last of `order` begins.
  const std::size_t n = ring.order.size();
  for (std::size_t i = 0; i < n; ++i) {
    turned.paths.push_back(ring.paths[(2 * n - 2 - i) % n]);
    std::reverse(turned.paths.back().begin(), turned.paths.back().end());
  }
  return turned;
}

ImplicitForest implicit_forest_of(const Request& request, std::vector<Ring> rings) {
  const std::size_t n = request.network.ranks.size();
  const auto roots = request.roots();
  ImplicitForest implicit;
  implicit.rings = static_cast<std::int64_t>(rings.size());
  // Which hop of a ring leads into a rank.
  auto into = std::make_shared<std::vector<std::size_t>>(rings.size() * n);
  for (std::size_t r = 0; r < rings.size(); ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      const Rank head = rings[r].order[(i + 1) % n];
      (*into)[r * n + head.index()] = implicit.hops.size();
      auto load = static_cast<std::int64_t>(roots.size());
      // The hop into a root carries nothing of its data.
      if (!request.root || *request.root == head) --load;
      implicit.hops.push_back({std::move(rings[r].paths[i]), load});
    }
  }
  for (const Rank root : roots) {
    for (std::size_t r = 0; r < rings.size(); ++r) implicit.trees.push_back({root, 1, 0});
  }
  const std::size_t count = rings.size();
  implicit.hop_into = [into, count, n](std::size_t tree, Rank child) {
    return (*into)[tree % count * n + child.index()];
  };
  return implicit;
}

Expected<BaselineResult> carry_out_on_rings(const Request& request, const std::vector<Ring>& rings,
                                            const std::string& note) {
  const auto make = [&](const Network& network) -> Expected<ImplicitForest> {
    std::vector<Ring> phase = rings;
    if (&network != &request.network) {
      std::transform(phase.begin(), phase.end(), phase.begin(), turned_round);
    }
    ImplicitForest implicit = implicit_forest_of(request, std::move(phase));
    implicit.note = note;
    return implicit;
  };
  return carry_out(request, make, Reduce::own_trees);
}

}  // namespace forestcoll::baseline
