// The linear program of an all-to-all after symmetry, in the form that a simplex takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "solver/alltoall/instance.hpp"
#include "solver/alltoall/view.hpp"
#include "solver/linear_program.hpp"

namespace forestcoll::solver::alltoall {

/// Σ terms ≤ bound, for one orbit of arcs or several whose rows are the same.
struct CapacityRow {
  std::vector<Term> terms;
  std::int64_t bound = 0;
  /// The row is what all arcs of an orbit carry together, divided by this.
  struct Orbit {
    std::size_t number = 0;
    std::int64_t divisor = 1;
  };
  std::vector<Orbit> orbits;
};

/// maximise θ, variable 0; the others are what one arc of a class carries for one source.
struct Program {
  std::vector<View> views;                    ///< by source of the instance
  std::vector<std::size_t> first;             ///< by source: the variable of its arc class 0
  std::size_t variables = 1;
  std::vector<std::vector<Term>> conservation;  ///< equations: Σ terms = 0
  std::vector<CapacityRow> capacity;

  [[nodiscard]] std::size_t variable(std::size_t source, ArcId a) const {
    return first[source] + views[source].arcs.of[a.index()];
  }
};

/// Nothing where it would have more than so many variables.
[[nodiscard]] std::optional<Program> make_program(const Instance& instance,
                                                  std::size_t max_variables);

}  // namespace forestcoll::solver::alltoall
