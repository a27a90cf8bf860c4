// What colour refinement cannot tell apart in the linear program of an all-to-all.
#pragma once

#include <cstddef>
#include <optional>

#include "solver/alltoall/instance/instance.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver::alltoall {

/// The program has a variable for every source and arc (and θ), an equation for every source and
/// node, and a capacity for every orbit of arcs. Classes are such that variables of one class are
/// as often, and with the same coefficients, in rows of each class, and the other way round. Then
/// some optimum gives all variables of a class one value and all rows of a class one price, and the
/// program of the classes has it (Grohe, Kersting, Mladenov, Selman, Dimension Reduction via Colour
/// Refinement, 2014).
struct Refinement {
  Partition flows;       ///< by source · arcs + arc
  Partition nodes;       ///< by source · nodes + node
  Partition capacities;  ///< by orbit of arcs
};

/// Nothing where there would be more classes of flows than that. By 64-bit hashes: should two
/// collide, the proofs of whatever is concluded fail.
/// Cost: O(sources · m log m) per round, as many rounds as there are hops that matter.
[[nodiscard]] std::optional<Refinement> refine(const Instance& instance, std::size_t max_classes);

}  // namespace forestcoll::solver::alltoall
