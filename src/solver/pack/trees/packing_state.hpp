// What is packed so far, what is left, and the tree in progress.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/id.hpp"
#include "solver/common/core.hpp"
#include "solver/pack/trees/cut_pool.hpp"
#include "solver/pack/trees/tree_store.hpp"
#include "solver/symmetry/orbits.hpp"

namespace forestcoll::solver {

/// The tree that is being grown.
struct GrowingTree {
  NodeId root;
  std::int64_t multiplicity = 0;
  IdVector<Rank, Route> routes;        ///< by which each rank is reached
  IdVector<Rank, std::int32_t> depth;  ///< −1: not reached
  std::vector<Rank> reached;           ///< in the order of attachment, the root first
  [[nodiscard]] bool active() const { return multiplicity > 0; }
};

/// Residual capacities, owed trees, finished trees and the pool of cuts, kept consistent: every
/// change to one goes through here and reaches the others. Trees come with all their images under
/// the group: the one that is attached, finished or removed here stands for all.
class PackingState {
 public:
  /// Finished trees go into `store`.
  PackingState(const Core& core, const Orbits& orbits, const IdVector<Rank, std::int64_t>& owed,
               TreeStore& store);

  [[nodiscard]] const Core& core() const { return core_; }
  [[nodiscard]] const Orbits& orbits() const { return orbits_; }
  [[nodiscard]] CutPool& pool() { return pool_; }
  [[nodiscard]] const CutPool& pool() const { return pool_; }
  [[nodiscard]] Capacity residual(ArcId arc) const { return residual_[orbits_.arc_orbit[arc]]; }
  /// Is there room on `arc` for one more use by the tree in progress and its images?
  [[nodiscard]] bool has_room(ArcId arc) const {
    return residual(arc) >= growing_.multiplicity * orbits_.weight[arc];
  }
  /// Is there room for the whole route, which may pass an orbit more than once?
  [[nodiscard]] bool has_room(std::span<const ArcId> route) const;
  [[nodiscard]] std::int64_t owed(Rank r) const { return owed_[orbits_.rank_orbit[r]]; }
  [[nodiscard]] std::int64_t total_owed() const { return total_owed_; }
  [[nodiscard]] const GrowingTree& growing() const { return growing_; }

  /// Residual capacity into X, less all that must still enter it, but for the tree in progress.
  [[nodiscard]] std::int64_t slack_of(const SinkSide& inside) const;
  /// Adds a cut to the pool, with the slack that it has by definition.
  CutId add_cut(const SinkSide& inside);

  void begin_tree(Rank root);
  /// Attaches the head of the last arc. REQUIRES: the pool admits the route (first arc first).
  void attach(std::span<const ArcId> route);
  /// Sets the multiplicity of the tree in progress to a smaller value, or back up to one that it
  /// had since the last attachment.
  void set_multiplicity(std::int64_t multiplicity);
  /// Takes back the node and all below it.
  void detach_subtree(Rank rank);
  /// The newest rank of the tree in progress whose route damages the cut: enters it, or an image of
  /// it, and is not the first to reach it. Invalid without one.
  [[nodiscard]] Rank newest_damage(CutId x);
  /// The tree in progress spans: it joins the finished ones.
  SlotId finish_tree();
  void remove_tree(SlotId slot);
  /// Does the tree, or an image of it, enter X when it need not?
  [[nodiscard]] bool damages(SlotId slot, const SinkSide& inside) const;

 private:
  [[nodiscard]] std::vector<NodeId> reached_nodes() const;
  void give_back(Route route, std::int64_t amount);
  const Core& core_;
  const Orbits& orbits_;
  CutPool pool_;
  IdVector<ArcId, Capacity> residual_;  ///< by the least arc of an orbit
  IdVector<Rank, std::int64_t> owed_;   ///< by the least rank of an orbit
  std::int64_t total_owed_ = 0;         ///< by all ranks
  GrowingTree growing_;
  TreeStore& store_;
};

}  // namespace forestcoll::solver
