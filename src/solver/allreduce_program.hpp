// The allreduce optimum as a linear program: its variables, and the rows that are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/network.hpp"
#include "solver/demand_check.hpp"
#include "solver/linear_program.hpp"

namespace forestcoll::solver {

/// One phase as a broadcast: the reduce phase is one on the reversed digraph.
struct AllreducePhase {
  Digraph graph;
  std::vector<std::size_t> variable;  ///< by arc of `graph`: what the phase takes of it
};

/// Σ terms ≤ bound.
struct CapacityRow {
  std::vector<Term> terms;
  Capacity bound = 0;
};

/// Variables stand for orbits: arcs, or ranks, that automorphisms of the network exchange have
/// the same value in some optimum, because the average of an optimum's images is one. By the same
/// argument the reduce phase is the broadcast phase turned round, and not looked at, where turning
/// all arcs round leaves the network as it is.
class AllreduceProgram {
 public:
  explicit AllreduceProgram(const Network& network);

  [[nodiscard]] std::size_t variables() const { return variables_; }
  /// What the out-trees, and the in-trees, take of an arc of the network.
  [[nodiscard]] std::size_t broadcast(ArcId a) const { return broadcast_[a]; }
  [[nodiscard]] std::size_t reduce(ArcId a) const { return reduce_[a]; }
  /// What is reduced at a rank. REQUIRES: `v` is a compute node.
  [[nodiscard]] std::size_t root(NodeId v) const { return root_[v]; }

  /// Broadcast, then reduce; broadcast alone where that serves both.
  [[nodiscard]] std::span<const AllreducePhase> phases() const { return phases_; }
  /// One rank of each orbit.
  [[nodiscard]] std::span<const NodeId> sinks() const { return sinks_; }

  /// The sum of all roots.
  [[nodiscard]] std::vector<Term> objective() const;
  /// Both phases share every arc. Each variable of an arc is in one row, with coefficient 1 or 2.
  [[nodiscard]] std::vector<CapacityRow> capacity_rows() const;
  /// Σ terms = 0: at switches as much of a phase enters as leaves.
  [[nodiscard]] std::vector<std::vector<Term>> balance_rows() const;
  /// Σ terms ≤ 0: what is rooted outside `side` has to enter it.
  [[nodiscard]] std::vector<Term> cut_row(const AllreducePhase& phase, const SinkSide& side) const;

 private:
  [[nodiscard]] bool reversible() const;
  void number_arcs(const std::vector<std::size_t>& orbit, std::size_t orbits);
  void number_roots(const std::vector<std::size_t>& orbit, std::size_t orbits);
  void make_phases(bool both);

  const Network& network_;
  std::size_t variables_ = 0;
  IdVector<ArcId, std::size_t> broadcast_, reduce_;
  IdVector<NodeId, std::size_t> root_;
  std::vector<AllreducePhase> phases_;
  std::vector<NodeId> sinks_;
  std::vector<NodeId> switches_;  // one of each orbit
  std::vector<ArcId> arcs_;       // one of each orbit
};

}  // namespace forestcoll::solver
