// Exact solutions of programs of trees near one in floating point.
#pragma once

#include <optional>
#include <span>
#include <stop_token>

#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_program.hpp"
#include "solver/linear/cut_proof.hpp"

namespace forestcoll::solver {

/// The solution in which nodes own what they do in `owned`, exactly, and that is otherwise near
/// `values` (by variable): what they take of arcs is rounded to a grid in which all that is owned
/// is whole, and of that as little is changed as the rows and all cuts need. So most numbers stay
/// short, and what is alike in `values` nearly stays so. Of `owned` nothing else counts, and it
/// need not be near: values of a little less data do.
///
/// Proved by exact maximum flows. `cuts` begins with those that it knows and goes on adding.
/// Nothing where no solution is found, numbers are large, or somebody asks to stop. Cost: by
/// round, a dual simplex and a maximum flow per commodity and sink.
[[nodiscard]] std::optional<ExactSolution> nearest_exact(const CutProgram& program,
                                                         const ExactSolution& owned,
                                                         std::span<const double> values,
                                                         CutGeneration& cuts,
                                                         const std::stop_token& stop);

}  // namespace forestcoll::solver
