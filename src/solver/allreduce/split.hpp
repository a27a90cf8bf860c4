// What a solution of the allreduce program says that trees take.
#pragma once

#include "forestcoll/allreduce.hpp"
#include "forestcoll/network.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/linear/cut_proof.hpp"

namespace forestcoll::solver {

/// Of all images of all classes, those without trees left out; `algbw` is left open.
/// Cost: O(images · arcs · log degree).
[[nodiscard]] AllreduceSplit split_of(const Network& network, const AllreduceProgram& program,
                                      const ExactSolution& solution);

}  // namespace forestcoll::solver
