// Flat trees of both phases of an allreduce on clusters of boxes, at a given rate.
#pragma once

#include <optional>
#include <stop_token>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

struct FlatForests {
  Weights trees;     ///< by root
  Forest broadcast;  ///< out-trees
  Forest reduce;     ///< in-trees
};

/// Trees of three hops at most: from the root to all ranks of its box; from one of these over a
/// lane (lanes.hpp) to one rank of each other box; and from that to the others there. Boxes with
/// narrower ways out root fewer trees. Where data of some box goes by way of another one
/// (shares.hpp), the rank at which it enters that passes it on, and trees have four hops. Every
/// tree enters each box once, so that no trees ask less of the gates. Whether the links inside of
/// boxes and between gates carry them at `rate` (units of capacity) is for the caller to see
/// (`congestion_algbw`). Nothing where the fabric has no such boxes, `find_lanes` finds nothing for
/// any of them, or somebody asks to stop. Cost: that of `find_lanes`, and linear in the trees.
[[nodiscard]] std::optional<FlatForests> flat_forests(const Network& network, const Ratio& rate,
                                                      const std::stop_token& stop);

}  // namespace forestcoll::solver
