// The known cuts that guard the growth of trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/core.hpp"
#include "solver/demand_check.hpp"

namespace forestcoll::solver {

using CutId = Id<struct CutTag>;

/// Sets X of nodes, each with its slack:
///   (residual capacity into X) − (trees still owed by roots outside X)
///                              − (the tree in progress, if it has not reached X yet).
/// INVARIANT kept by the growth: every slack is ≥ 0.
///
/// A route that enters X takes capacity from it; the first entry of a tree from outside is what
/// the demand was for, every further one is *damage* and costs slack.
class CutPool {
 public:
  explicit CutPool(const Core& core) : core_(core), crossings_(core.graph.arc_count()) {}

  [[nodiscard]] std::size_t size() const { return cuts_.size(); }
  [[nodiscard]] const SinkSide& inside(CutId x) const { return cuts_[x].inside; }
  [[nodiscard]] std::int64_t slack(CutId x) const { return cuts_[x].slack; }

  /// Cost: O(m).
  CutId add(const SinkSide& inside, std::int64_t slack, bool reached);

  /// Capacity came back to, or was taken from, `arc`.
  void add_capacity(ArcId arc, std::int64_t delta) {
    for (const Crossing& c : crossings_[arc]) {
      if (c.enters) cuts_[c.cut].slack += delta;
    }
  }
  /// A finished tree of `root` is taken back, or owed trees are (negative).
  void add_owed(NodeId root, std::int64_t delta);

  /// A tree begins at `root`: owed trees become the tree in progress, so only what it has reached
  /// changes.
  void begin_tree(NodeId root);
  /// The tree in progress gives up `delta` of its multiplicity; its root owes them again.
  void shrink_tree(NodeId root, std::int64_t delta);
  /// The tree in progress, of the given multiplicity, lost nodes: `reached` tells for a cut whether
  /// it still has one inside.
  template <class Reached>
  void recount_reached(std::int64_t multiplicity, Reached&& reached) {
    for (std::size_t x = 0; x < cuts_.size(); ++x) {
      State& cut = cuts_[CutId(x)];
      if (!cut.reached || reached(cut.inside)) continue;
      cut.reached = false;
      cut.slack -= multiplicity;
    }
  }

  /// May a route of `multiplicity` use `arc`, as far as one arc can tell?
  [[nodiscard]] bool is_open(ArcId arc, std::int64_t multiplicity) const {
    for (const Crossing& c : crossings_[arc]) {
      const State& cut = cuts_[c.cut];
      // A tight cut can only take the first entry: once reached it must not be entered, and a
      // route that is to end inside must not leave again.
      if (cut.slack < multiplicity && cut.reached == c.enters) return false;
    }
    return true;
  }

  /// May the tree in progress take this whole route? Exact with respect to the pool.
  [[nodiscard]] bool admits(std::span<const ArcId> route, std::int64_t multiplicity);
  /// The tree in progress takes the route. REQUIRES: admits(route, multiplicity).
  void take(std::span<const ArcId> route, std::int64_t multiplicity);

 private:
  struct Crossing {
    CutId cut;
    bool enters;  ///< else it leaves
  };
  struct State {
    std::int64_t slack = 0;
    bool reached = false;
    std::int32_t entries = 0, exits = 0;  ///< of the route at hand; 0 between calls
    std::vector<bool> inside;
  };

  void count(std::span<const ArcId> route);
  // A route starts at a reached node, so of a cut that is not reached yet it starts outside, and
  // ends inside exactly if it enters once more than it leaves.
  [[nodiscard]] static bool reaches(const State& cut) {
    return !cut.reached && cut.entries > cut.exits;
  }

  const Core& core_;
  IdVector<CutId, State> cuts_;
  IdVector<ArcId, std::vector<Crossing>> crossings_;
  std::vector<CutId> counted_;
};

}  // namespace forestcoll::solver
