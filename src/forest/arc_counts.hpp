// How many trees use each arc.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll {

/// For each arc the multiplicities of the trees that use it, a tree as often as its edges do.
/// Nothing where a sum does not fit. REQUIRES: the paths of the edges follow arcs of the network.
/// Cost: O(log d) for d arcs out of a node, by hop of the edges of trees that are not images of
/// others, and by arc and generator of these images.
[[nodiscard]] std::optional<IdVector<ArcId, std::int64_t>> count_on_arcs(const Forest& forest,
                                                                         const Network& network);

}  // namespace forestcoll
