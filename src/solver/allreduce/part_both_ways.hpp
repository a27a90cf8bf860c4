// The part of a fabric that is the same turned round.
#pragma once

#include <optional>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver {

/// Of every link what is there in both directions. Nothing where that is the whole fabric, or
/// leaves some rank alone. What trees reach on it they reach on the fabric, and a program in which
/// reduce is broadcast turned round has half as many variables, and is solved sooner. Cost: O(m log
/// m).
[[nodiscard]] std::optional<Network> part_both_ways(const Network& network);

/// A split of the part, by the arcs of the whole.
[[nodiscard]] AllreduceSplit on_whole(AllreduceSplit split, const Network& part,
                                      const Network& whole);

}  // namespace forestcoll::solver
