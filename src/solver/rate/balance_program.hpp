// The best balanced part of a fabric as a linear program.
#pragma once

#include <cstddef>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "solver/linear/cut_program.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {

/// maximise x such that a part of the fabric, balanced at every switch, lets every compute node
/// receive x·weight from every root.
struct BalanceProgram {
  BalanceProgram(const Network& network, const Weights& weights);

  /// By arc, from the variables' values.
  [[nodiscard]] std::vector<double> part_of(const std::vector<double>& values) const;

  CutProgram program;
  std::size_t rate = 0;  ///< the variable x; that of arc a is `orbits.arcs.of[a]`
  NetworkOrbits orbits;
  std::vector<NodeId> switches;  ///< one of each orbit, by row of `program.balance`
};

}  // namespace forestcoll::solver
