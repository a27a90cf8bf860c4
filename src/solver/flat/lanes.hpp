// How much goes from each box to each other one by each pair of gates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "solver/common/boxes.hpp"
#include "solver/flat/shares.hpp"

namespace forestcoll::solver {

/// A way from one box to another one: a gate out and a gate in, by their places in the lists of
/// their boxes.
struct Lane {
  std::size_t out = 0, in = 0;
  std::int64_t trees = 0;  ///< of all phases
};

/// Trees of both phases of an allreduce, or of a broadcast alone, so many rooted in each box. In
/// the broadcast each goes from its root's box to each other one, in the reduce from each other one
/// to its root's: from box g to box h there go trees[g] + trees[h], or trees[g] alone, and what
/// relays say more or less.
struct Lanes {
  BoxShares shares;
  std::vector<std::vector<std::vector<Lane>>> lanes;  ///< by box from and box to
};

/// So many trees that they reach `rate`, in units of capacity (`find_shares`). What goes over each
/// lane is the solution of a program in which lanes that colour refinement does not tell apart have
/// the same (Grohe, Kersting, Mladenov, Selman 2014), each pair of boxes as evenly over its lanes
/// as gates allow. Exact. Nothing where gates do not carry the rate by such trees, or no exact
/// solution is found. Cost: O(lanes) for each round of refinement, and a small linear program.
[[nodiscard]] std::optional<Lanes> find_lanes(const Boxes& boxes, const Ratio& rate,
                                              const OwedByBox& owed = {});

}  // namespace forestcoll::solver
