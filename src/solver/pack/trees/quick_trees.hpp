// Trees at once, over the least loaded ways, within the capacities or not.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/id.hpp"
#include "solver/common/core.hpp"
#include "solver/pack/trees/tree_store.hpp"
#include "solver/symmetry/orbits.hpp"

namespace forestcoll::solver {

/// Grows trees one after the other: the rank that the least loaded way reaches joins next, over the
/// loads of all trees so far. See quick_trees.cpp.
class QuickTrees {
 public:
  /// `load` is what the arcs carry already, by the least arc of an orbit. Trees come with their
  /// images under the group of `orbits`.
  QuickTrees(const Core& core, const Orbits& orbits, TreeStore& store,
             IdVector<ArcId, std::int64_t> load);

  /// A tree of this root joins the store. REQUIRES: its root reaches all ranks.
  /// Cost: O(m log m).
  void add(Rank root, std::int64_t multiplicity);

  /// Of all trees so far, images counted.
  [[nodiscard]] std::int64_t load(ArcId arc) const { return load_[orbits_.arc_orbit[arc]]; }

 private:
  struct Entry {
    Int128 length = 0;
    std::int32_t depth = 0;  ///< of the rank at the head, or of the next one after a switch
    ArcId arc;
    bool again = false;
    bool operator<(const Entry& other) const;
  };

  template <class Visit>
  void walk_back(ArcId arc, Visit visit) const;
  [[nodiscard]] std::int64_t more(ArcId arc) const { return orbits_.weight[arc] * multiplicity_; }
  [[nodiscard]] Int128 length_over(ArcId arc) const;
  void reach(NodeId node, std::int32_t depth);
  void attach(NodeId rank);
  [[nodiscard]] PrefixId prefix_at(NodeId v);

  const Core& core_;
  const Orbits& orbits_;
  TreeStore& store_;
  IdVector<ArcId, std::int64_t> load_;  ///< by the least arc of an orbit
  IdVector<ArcId, std::int64_t> cost_;  ///< of one unit of load, about
  // Of the tree at hand:
  std::int64_t multiplicity_ = 0;
  std::vector<ArcId> into_;  ///< by which each node is reached
  std::vector<bool> reached_;
  std::vector<Route> row_;
  std::priority_queue<Entry> queue_;
};

}  // namespace forestcoll::solver
