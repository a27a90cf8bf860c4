// Lower trees within the same capacities.
#pragma once

#include <cstdint>
#include <limits>
#include <stop_token>

#include "forestcoll/pack.hpp"
#include "solver/height/common/tree_rows.hpp"
#include "solver/symmetry/orbits.hpp"

namespace forestcoll::solver {

/// How long a descent may take around random exchanges: a tenth of their time or less, or as long.
enum class Descents { brief, as_long };

/// What a search for lower trees is for, and how it goes.
struct HeightSearch {
  /// Higher trees are worth nothing: no time is spent on those that will not get so low.
  std::int32_t most = std::numeric_limits<std::int32_t>::max();
  Descents descents = Descents::brief;
  bool operator==(const HeightSearch&) const = default;
};

/// How low trees are to be: no forest is lower, or need be. The search ends where trees are near
/// that, but for one that is asked for this height and no more.
struct HeightGoal {
  std::int32_t height = 1;
  HeightSearch search = {};
};

/// Makes the trees lower where they are higher than the goal. First by whole forests of stars or
/// of two levels, where the capacities allow one (whole/flat.hpp). Else edge by edge
/// (edges/descent.hpp); and where that is not enough, by random exchanges (edges/anneal.hpp) and
/// edge by edge again, a few times. Every step keeps the trees spanning, the loads within capacity
/// and the multiplicities per root. Afterwards the trees are in order of their roots, their heights
/// and `resources.residual` right. `orbits` says what the trees stand for: images under its group
/// are trees as well.
///
/// Nothing is done, at O(trees), where no tree is higher than the goal, and nothing edge by edge
/// where there are too many: 2^21, 2^23, 2^25 by `effort`; random exchanges end at 0, 2^14, 2^21
/// edges. Cost: bounded in steps by `effort`: some of the size of the forest, or of 10 to 200 ms
/// where that is more; at the greatest effort of a minute. Rounds of exchanges that would leave
/// trees above `goal.search.most`, as far as the last one tells, are left out; at the greatest
/// effort also those that would leave the highest tree as it is. The result is the same on every
/// machine. `progress` is told of the random exchanges, as if all rounds of them were
/// needed.
void lower_heights(const TreeRows& rows, Resources& resources, const Orbits& orbits,
                   const HeightGoal& goal, Effort effort, const std::stop_token& stop,
                   const Progress& progress = {});

/// The same without whole forests: for those that come of one.
void lower_edge_by_edge(const TreeRows& rows, Resources& resources, const Orbits& orbits,
                        const HeightGoal& goal, Effort effort, const std::stop_token& stop,
                        const Progress& progress = {});

}  // namespace forestcoll::solver
