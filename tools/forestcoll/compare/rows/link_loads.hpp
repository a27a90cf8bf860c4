// What the trees of a forest put on the links.
#pragma once

#include <optional>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// Of every arc: data sent over it by all phases together, in units of the whole buffer. Nothing
/// where exact arithmetic does not hold it. Cost: O(length of all routes × log degree).
/// REQUIRES: the forest's routes follow arcs of `network`.
[[nodiscard]] std::optional<IdVector<ArcId, Ratio>> link_loads(const CollectiveForest& forest,
                                                               const Network& network);

}  // namespace forestcoll::cli
