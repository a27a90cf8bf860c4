// Automorphisms that no rank order shows.
#pragma once

#include <span>
#include <vector>

#include "forest/symmetry.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {

/// Does it map all arcs to arcs of the same capacity? Cost: O(m log m).
[[nodiscard]] bool is_automorphism(const Network& network, const NodeImage& image);

/// Whether a symmetry of a part is one of the whole fabric. Cost: the same for each generator.
[[nodiscard]] bool keeps_fabric(const Symmetry& symmetry, const Network& network);

/// Automorphisms that keep the weights and join nodes which `known` ones leave apart, though colour
/// refinement (Weisfeiler, Leman 1968) cannot tell them apart: where a rail has a cable less, the
/// other rails are alike. To take one node to another, the two are given a colour of their own, the
/// colours are refined, and what is still tied stays where it is if it can, and else changes
/// places in the order of ids; a class is broken up only where that is no automorphism. There is no
/// way back from a choice: not all are found, and what is returned is checked on every arc. Cost:
/// O(m log n) per pair that is tried, for as many pairs as take a fifth of a second or so.
[[nodiscard]] std::vector<NodeImage> find_other_automorphisms(const Network& network,
                                                              const Weights& weights,
                                                              std::span<const NodeImage> known);

}  // namespace forestcoll::solver
