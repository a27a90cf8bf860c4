// What is packed so far, what is left, and the tree in progress.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "solver/core.hpp"
#include "solver/cut_pool.hpp"

namespace forestcoll::solver {

/// A finished tree's place in the store.
using SlotId = Id<struct SlotTag>;

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
/// change to one goes through here and reaches the others.
class PackingState {
 public:
  PackingState(const Core& core, const IdVector<Rank, std::int64_t>& owed);

  [[nodiscard]] const Core& core() const { return core_; }
  [[nodiscard]] CutPool& pool() { return pool_; }
  [[nodiscard]] Capacity residual(ArcId arc) const { return residual_[arc]; }
  [[nodiscard]] const IdVector<ArcId, Capacity>& residual() const { return residual_; }
  [[nodiscard]] std::int64_t owed(Rank r) const { return owed_[r]; }
  [[nodiscard]] std::int64_t total_owed() const { return total_owed_; }
  [[nodiscard]] const GrowingTree& growing() const { return growing_; }

  /// Residual capacity into X, less all that must still enter it: by definition.
  [[nodiscard]] std::int64_t slack_of(const SinkSide& inside) const;
  [[nodiscard]] bool growing_reaches(const SinkSide& inside) const;

  void begin_tree(Rank root);
  /// Attaches the head of the last arc. REQUIRES: the pool admits the route (first arc first).
  void attach(std::span<const ArcId> route);
  /// Sets the multiplicity of the tree in progress to a smaller value, or back up to one that it
  /// had since the last attachment.
  void set_multiplicity(std::int64_t multiplicity);
  /// Takes back the node and all below it.
  void detach_subtree(Rank rank);
  /// The tree in progress spans: it joins the finished ones.
  SlotId finish_tree();
  void remove_tree(SlotId slot);
  [[nodiscard]] Rank root(SlotId slot) const { return slots_[slot].root; }
  /// How often the tree's routes enter X.
  [[nodiscard]] std::int64_t entries(SlotId slot, const SinkSide& inside) const;

  /// Calls `visit(arc)` for every arc of the route.
  template <class Visit>
  void for_each_arc(Route route, Visit&& visit) const {
    visit(ArcId(route.last.value));
    for (PrefixId p = route.prefix; table_.segment(p).valid(); p = table_.before(p)) {
      visit(ArcId(table_.segment(p).value));
    }
  }
  [[nodiscard]] std::int64_t entries(Route route, const SinkSide& inside) const;

  /// The forest, by root, with its trees lowered. The state is spent.
  [[nodiscard]] Forest release();

 private:
  void close_gaps();
  void give_back(Route route, std::int64_t amount);
  [[nodiscard]] PrefixId extended(PrefixId prefix, ArcId arc);
  [[nodiscard]] std::span<Route> row(SlotId slot) {
    return std::span(routes_).subspan(slot.index() * ranks_, ranks_);
  }
  [[nodiscard]] std::span<const Route> row(SlotId slot) const {
    return std::span(routes_).subspan(slot.index() * ranks_, ranks_);
  }

  const Core& core_;
  std::size_t ranks_;
  CutPool pool_;
  IdVector<ArcId, Capacity> residual_;
  IdVector<Rank, std::int64_t> owed_;
  std::int64_t total_owed_ = 0;
  GrowingTree growing_;

  RouteTable table_;  ///< SegmentId(a) is core arc a
  std::unordered_map<std::uint64_t, PrefixId> prefix_of_;
  IdVector<SlotId, Forest::Tree> slots_;  ///< multiplicity 0: free
  std::vector<Route> routes_;             ///< a row of `ranks_` per slot
  std::vector<SlotId> free_;
};

}  // namespace forestcoll::solver
