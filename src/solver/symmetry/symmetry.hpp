// Finding automorphisms of a fabric.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/symmetry.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::solver {

/// Groups that map the network, its capacities and the weights onto themselves, those that leave
/// the fewest orbits of ranks first. A rank is either left alone by a whole group or by its
/// identity only. None where no symmetry was found.
///
/// Looked for are the symmetries that rank orders show: read a rank as a number with digits (box,
/// GPU; x, y, z) and turn one digit by one. Where a part of the fabric is not like the rest (a box
/// with a broken cable or a GPU less), the largest class of runs of ranks that colour refinement
/// (Weisfeiler, Leman 1968) cannot tell apart is turned and the other ranks stay. Each shift of
/// ranks is extended to the switches by colour refinement and then checked on every arc, so what is
/// returned is proved. Cost: O(divisors of N · m log n) at worst; most candidates fall at the first
/// arc.
[[nodiscard]] std::vector<Symmetry> find_symmetries(const Network& network, const Weights& weights);

/// The same, and groups that turn the other ranks too, class by class of what looks alike, the
/// largest first, so that together they leave fewer orbits: a cluster whose last leaf is less full
/// has one class of boxes on it, and one on the others. Cost: that times the classes.
[[nodiscard]] std::vector<Symmetry> find_symmetries_by_class(const Network& network,
                                                             const Weights& weights);

/// Of a group that leaves some ranks alone, some of fewer images that may leave more of them, the
/// one of the most images first: the last generator turns blocks of what it turned as a whole, so
/// that a tree with its images comes to a small part of what ranks that stay can even out. None
/// where no rank stays, and where no such automorphism is found.
/// Cost: that of checking three, O(m log n).
[[nodiscard]] std::vector<Symmetry> in_blocks(const Network& network, const Symmetry& group);

using NodeColours = IdVector<NodeId, std::uint64_t>;

/// Compute nodes by their weight, all switches alike.
[[nodiscard]] NodeColours colours_by_weight(const Network& network, const Weights& weights);

/// What every node looks like from all hops around it, given these colours, by colour refinement
/// (Weisfeiler, Leman 1968): nodes that an automorphism exchanges which keeps the given colours
/// have the same. Cost: O(rounds · m), and a sort in each round.
[[nodiscard]] NodeColours refined(const Network& network, NodeColours colours);

}  // namespace forestcoll::solver
