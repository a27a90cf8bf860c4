// Flat trees on clusters of boxes, of both phases of an allreduce or of one phase, at a given rate.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

struct FlatForests {
  Weights trees;     ///< by root
  Forest broadcast;  ///< out-trees
  Forest reduce;     ///< in-trees; none of one phase
};

/// What trees reach inside of boxes by: stars, or the lowest trees that the links there carry.
enum class InsideBoxes { stars, trees };

struct FlatOptions {
  /// What roots owe: out-trees of one phase, as many for each unit of weight. Nothing: both phases
  /// of an allreduce, whose roots may have any shares.
  std::optional<Weights> owed = {};
  InsideBoxes inside = InsideBoxes::stars;
  /// Numbers of trees, those of all roots by the sum of their weights (1 of each where none are
  /// owed): the least of them that loses little by whole numbers is taken. Empty: as many as exact
  /// parts of the rate take.
  std::vector<std::int64_t> numbers = {};
  std::stop_token stop = {};
};

/// Trees of three hops at most where stars are inside of boxes: from the root to all ranks of its
/// box; from one of these over a lane (lanes.hpp) to one rank of each other box; and from that to
/// the others there. Boxes with narrower ways out root fewer trees of an allreduce. Where data of
/// some box goes by way of another one (shares.hpp), the rank at which it enters that passes it on,
/// and trees have one hop more. Every tree enters each box once, so that no trees ask less of the
/// gates. Whether the links inside of boxes and between gates carry them at `rate` (units of
/// capacity) is for the caller to see (`congestion_algbw`); links inside of boxes carry trees that
/// are not stars (inside_trees.hpp). Nothing where the fabric has no
/// such boxes, `find_lanes` finds nothing for any of them, or somebody asks to stop. Cost: that of
/// `find_lanes`, of `inside_trees` twice, and linear in the trees.
[[nodiscard]] std::optional<FlatForests> flat_forests(const Network& network, const Ratio& rate,
                                                      const FlatOptions& options);

}  // namespace forestcoll::solver
