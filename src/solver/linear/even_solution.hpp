// Solutions of programs of trees that are in the middle of what is allowed, and not at a corner.
#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_program.hpp"

namespace forestcoll::solver {

/// By variable: a solution with these values of what nodes own, in which every arc is taken as near
/// to its middle as the rows and all cuts allow. The middle of a capacity row is where all of its
/// variables are equal and take it up. What minimises Σ members · (x − middle)² / middle, as
/// currents do: a lack in one place is met by a little from everywhere, so that what is alike stays
/// nearly so.
///
/// In floating point; rows may be violated by some millionths, and cuts by some hundred
/// thousandths. `cuts` begins with those that it knows and goes on adding. Nothing where no
/// solution is found, as where the values owned leave none. Cost: by round, sweeps over all rows
/// and a maximum flow per commodity and sink.
[[nodiscard]] std::optional<std::vector<double>> even_solution(const CutProgram& program,
                                                               std::vector<double> owned,
                                                               CutGeneration& cuts,
                                                               const std::stop_token& stop);

}  // namespace forestcoll::solver
