// Forests of height 1 and 2 on switched fabrics, straight from the structure.
#pragma once

#include <cstdint>
#include <stop_token>

#include "solver/height/common/tree_rows.hpp"

namespace forestcoll::solver {

/// Whether a forest must be within the capacities; where it need not, trees may be higher, too.
enum class Fit { within, perhaps, at_any_height };

/// Replaces the forest by one of flat trees, if the capacities allow it; with `Fit::perhaps` also
/// where they do not, and `resources.residual` is negative where it asks too much: for
/// `mend_overfull` to go on from.
/// Height 1: every root sends to every rank. Height 2: the ranks of one switch (the widest that
/// each has) form a group; a root sends to its own group and to one rank of every other group,
/// which passes it on there. Within its group a root stands where the ranks stand that it enters
/// the other groups by, so that groups of one size share the work evenly; where there is no way to
/// that rank, the next one takes its place, and where a root has no way out, a mate's (height 3).
/// With `Fit::at_any_height` a tree of which that fails is a breadth-first one, and it is else as
/// with `Fit::perhaps`: links that are full count as no way in a second try, and of the two the one
/// is taken that asks for less beyond the capacities.
/// Routes are the fewest hops through switches; among those, the arcs with the most capacity left.
///
/// `arriving`: what each rank gets by the links that it passes data on by, where both take of one
/// capacity; a rank to which that leaves too little has a mate pass on what enters its group by it
/// (height 3).
///
/// `rows` may name roots and multiplicities alone, as for `pack_shortest`. Greedy: where this
/// fails, other trees of this height may exist. REQUIRES: height 1 or 2.
/// Cost: O(N · m log m), and as much per detour round a full arc, of which there are a few.
bool pack_flat(const TreeRows& rows, Resources& resources, std::int32_t height, Fit fit,
               const std::stop_token& stop, Capacity arriving = 0);

}  // namespace forestcoll::solver
