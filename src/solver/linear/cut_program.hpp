// Linear programs of trees: what they take of every arc, so that every cut carries what has to
// cross it.
#pragma once

#include <cstddef>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/common/demand_check.hpp"
#include "solver/linear/linear_program.hpp"

namespace forestcoll::solver {

/// Trees from the roots outwards; in-trees are out-trees on the reversed digraph.
struct TreePhase {
  Digraph graph;
  std::vector<std::size_t> variable;  ///< by arc of `graph`: what the trees take of it
};

/// Σ terms ≤ bound.
struct CapacityRow {
  std::vector<Term> terms;
  Capacity bound = 0;
};

/// maximise `objective` such that in every phase each sink can be sent what all nodes own (that is
/// a row per cut, too many to list), and all other rows hold. Variables are 0 or more; one may
/// stand for a whole orbit.
struct CutProgram {
  std::size_t variables = 0;
  std::vector<Term> objective;  ///< of variables that nodes own
  std::vector<TreePhase> phases;
  IdVector<NodeId, Term> owned;            ///< by node, in every phase; coefficient 0 for nothing
  std::vector<NodeId> sinks;               ///< one of each orbit
  std::vector<CapacityRow> capacity;       ///< each variable of an arc is in one, times 1 or 2
  std::vector<std::vector<Term>> balance;  ///< Σ terms = 0
};

/// Σ terms ≤ 0: what is owned outside `side` has to enter it.
[[nodiscard]] std::vector<Term> cut_row(const CutProgram& program, const TreePhase& phase,
                                        const SinkSide& side);

/// Σ terms = 0: as much of the phase enters `node` as leaves it.
[[nodiscard]] std::vector<Term> balance_row(const TreePhase& phase, NodeId node);

}  // namespace forestcoll::solver
