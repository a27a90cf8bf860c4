// The linear program of an all-to-all after symmetry, in the form that a simplex takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "solver/alltoall/instance/instance.hpp"
#include "solver/alltoall/refinement.hpp"
#include "solver/linear/linear_program.hpp"

namespace forestcoll::solver::alltoall {

/// What the arcs of an orbit carry together, divided by a common divisor, is at most the bound.
/// One row for all orbits of a class.
struct CapacityRow {
  std::vector<Term> terms;
  std::int64_t bound = 0;
  std::int64_t divisor = 1;
};

/// maximise θ, variable 0; variable 1 + c is what an arc carries for a source in class c of flows.
struct Program {
  Refinement classes;
  std::vector<std::vector<Term>> conservation;  ///< equations: Σ terms = 0
  std::vector<CapacityRow> capacity;            ///< by class of capacities
  std::vector<std::int64_t> orbits;             ///< how many there are in a class of capacities

  [[nodiscard]] std::size_t variables() const { return classes.flows.count + 1; }
};

/// Nothing where it would have more than so many variables.
[[nodiscard]] std::optional<Program> make_program(const Instance& instance,
                                                  std::size_t max_variables);

}  // namespace forestcoll::solver::alltoall
