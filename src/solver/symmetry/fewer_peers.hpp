// Taller trees in which every rank has fewer peers.
#pragma once

#include <cstddef>
#include <optional>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver {

struct FewerPeers {
  Forest forest;
  std::size_t peers;   ///< the most ranks that one sends to, or receives from
  std::size_t before;  ///< the same of the forest that was given
};

/// As many trees at the same rate, with fewer peers: where a rank leads to many of its images, some
/// of these lead on to the others, so that what was one hop is up to `levels`. Of such divisions
/// the one with the fewest peers that leaves the busiest link as busy as it was. Nothing where none
/// has fewer peers than the forest, and where the forest's symmetry does not move every rank and
/// every tree.
/// REQUIRES: `forest` is a forest in `network`; levels is 2 or 3.
/// Cost: O(divisions · base trees · N), for at most some thousands of divisions, and
/// O(base trees · N · hops) for each whose loads are looked at.
[[nodiscard]] std::optional<FewerPeers> with_fewer_peers(const Network& network,
                                                         const Forest& forest, int levels);

}  // namespace forestcoll::solver
