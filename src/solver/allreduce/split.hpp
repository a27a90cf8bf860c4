// What a solution of the allreduce program says that trees take.
#pragma once

#include "forestcoll/allreduce.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"

namespace forestcoll::solver {

/// Of all images of all classes, those without trees left out; `algbw` is left open.
/// Cost: O(images · arcs · log degree).
[[nodiscard]] AllreduceSplit split_of(const Network& network, const AllreduceProgram& program,
                                      const ExactSolution& solution);

/// Puts what a solved program reaches into `optimum` (split and value), exactly where that can be
/// proved, unless what is there is more. `upper`, in the network's units, is not exceeded.
/// Cost: that of `prove_reached` and `prove_best_reached`.
void add_reached(const Network& network, const AllreduceProgram& program,
                 const CutGeneration& generation, const Ratio& upper, AllreduceOptimum& optimum);

}  // namespace forestcoll::solver
