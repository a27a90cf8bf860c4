// The allreduce optimum as a linear program.
#pragma once

#include <cstddef>
#include <vector>

#include "forestcoll/network.hpp"
#include "solver/linear/cut_program.hpp"

namespace forestcoll::solver {

/// Phases are broadcast, then reduce; broadcast alone where turning all arcs round leaves the
/// network as it is: by the argument for orbits, reduce is then broadcast turned round.
class AllreduceProgram {
 public:
  explicit AllreduceProgram(const Network& network);

  [[nodiscard]] const CutProgram& program() const { return program_; }
  /// What the out-trees, and the in-trees, take of an arc of the network.
  [[nodiscard]] std::size_t broadcast(ArcId a) const { return broadcast_[a]; }
  [[nodiscard]] std::size_t reduce(ArcId a) const { return reduce_[a]; }
  /// What is reduced at a rank. REQUIRES: `v` is a compute node.
  [[nodiscard]] std::size_t root(NodeId v) const { return program_.owned[v].variable; }

 private:
  [[nodiscard]] bool reversible() const;
  void number_arcs(const std::vector<std::size_t>& orbit, std::size_t orbits);
  void number_roots(const std::vector<std::size_t>& orbit, std::size_t orbits);
  void make_phases();
  void add_capacity_rows();
  void add_balance_rows();

  const Network& network_;
  CutProgram program_;
  IdVector<ArcId, std::size_t> broadcast_, reduce_;
  std::vector<NodeId> switches_;  // one of each orbit
  std::vector<ArcId> arcs_;       // one of each orbit
};

}  // namespace forestcoll::solver
