// Finished trees: rows of routes that share their prefixes.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "solver/common/core.hpp"

namespace forestcoll::solver {

/// A finished tree's place in the store.
using SlotId = Id<struct SlotTag>;

/// Trees, and a row of routes for each: one per rank.
struct TreePart {
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;
};

/// Trees as the route by which each rank is reached, in the terms of a core: SegmentId(a) is core
/// arc a.
class TreeStore {
 public:
  explicit TreeStore(const Core& core);

  /// The prefix that goes on over one more arc.
  [[nodiscard]] PrefixId extended(PrefixId prefix, ArcId arc);
  [[nodiscard]] Rank origin(Route route) const { return table_.origin(route.prefix); }

  /// Calls `visit(arc)` for every arc of the route, the last one first.
  template <class Visit>
  void for_each_arc(Route route, Visit&& visit) const {
    solver::for_each_arc(table_, route, std::forward<Visit>(visit));
  }

  void reserve(std::size_t trees) { routes_.reserve(trees * ranks_); }
  SlotId add(const Forest::Tree& tree, std::span<const Route> routes);
  void remove(SlotId slot);
  [[nodiscard]] const Forest::Tree& tree(SlotId slot) const { return slots_[slot]; }
  [[nodiscard]] std::span<const Route> row(SlotId slot) const {
    return std::span(routes_).subspan(slot.index() * ranks_, ranks_);
  }

  /// The trees so far, in the order in which they came; the store is empty then, but for the
  /// table.
  [[nodiscard]] TreePart take();
  [[nodiscard]] RouteTable& table() { return table_; }

 private:
  [[nodiscard]] std::span<Route> own_row(SlotId slot) {
    return std::span(routes_).subspan(slot.index() * ranks_, ranks_);
  }
  void close_gaps();

  std::size_t ranks_;
  RouteTable table_;
  std::unordered_map<std::uint64_t, PrefixId> prefix_of_;
  IdVector<SlotId, Forest::Tree> slots_;  ///< multiplicity 0: free
  std::vector<Route> routes_;             ///< a row of `ranks_` per slot
  std::vector<SlotId> free_;
};

}  // namespace forestcoll::solver
