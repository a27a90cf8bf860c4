// Linear programs of trees: what they take of every arc, so that every cut carries what has to
// cross it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/common/demand_check.hpp"
#include "solver/linear/linear_program.hpp"

namespace forestcoll::solver {

/// A commodity of the program: trees from the roots outwards; in-trees are out-trees on the
/// reversed digraph.
struct TreeCommodity {
  Digraph graph;
  std::vector<std::size_t> variable;  ///< by arc of `graph`: what the trees take of it
  IdVector<NodeId, Term> owned;       ///< by node of `graph`; coefficient 0 for nothing
  std::vector<NodeId> sinks;          ///< what the trees span, one of each orbit
};

/// Σ terms ≤ bound.
struct CapacityRow {
  std::vector<Term> terms;
  Capacity bound = 0;
};

/// maximise `objective` such that in every commodity each sink can be sent what all nodes own in it
/// (that is a row per cut, too many to list), and all other rows hold. Variables are 0 or more; one
/// may stand for a whole orbit.
struct CutProgram {
  std::size_t variables = 0;
  std::vector<Term> objective;  ///< of variables that nodes own
  std::vector<TreeCommodity> commodities;
  std::vector<CapacityRow> capacity;       ///< each variable of an arc is in some; none is negative
  std::vector<std::vector<Term>> balance;  ///< Σ terms = 0

  /// In rows of cuts, all that is owned in a commodity, which is a variable more.
  [[nodiscard]] std::size_t total(std::size_t commodity) const { return variables + commodity; }
};

/// Those that are not 0.
[[nodiscard]] std::vector<Term> nonzero_terms(
    const std::map<std::size_t, std::int64_t>& coefficients);

/// What all nodes own in a commodity, each variable once.
[[nodiscard]] std::vector<Term> owned_terms(const TreeCommodity& commodity);

/// Σ terms ≤ 0: what is owned outside `side` has to enter it. Written by what is owned outside, or
/// by all without what is owned inside, whichever is shorter.
[[nodiscard]] std::vector<Term> cut_row(const CutProgram& program, std::size_t commodity,
                                        const SinkSide& side);

/// Σ terms = 0: as much of the commodity enters `node` as leaves it.
[[nodiscard]] std::vector<Term> balance_row(const TreeCommodity& commodity, NodeId node);

}  // namespace forestcoll::solver
