// Whole numbers near what floating point found that trees take of a fabric.
#pragma once

#include <optional>
#include <span>

#include "solver/allreduce/allreduce_program.hpp"
#include "solver/linear/cut_proof.hpp"

namespace forestcoll::solver {

/// What trees take of every arc, as sums of paths through switches from rank to rank: so as much
/// enters a switch as leaves it, exactly, and arcs of an orbit are taken alike. Some millionths
/// below `values` (by variable of the program), by a common denominator that keeps every capacity
/// row. Of what is owned there is nothing in it. Nothing where numbers do not fit.
/// REQUIRES: a program without switches that copy or combine. Cost: O(m · hops · degree).
[[nodiscard]] std::optional<ExactSolution> whole_paths(const AllreduceFabric& fabric,
                                                       const AllreduceProgram& program,
                                                       std::span<const double> values);

}  // namespace forestcoll::solver
