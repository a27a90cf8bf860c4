// Growing one tree, breadth first, within the residual capacities and the pool of cuts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"
#include "solver/common/budget.hpp"
#include "solver/common/core.hpp"
#include "solver/pack/trees/packing_state.hpp"

namespace forestcoll::solver {

/// Extends the tree in progress of a PackingState.
///
/// Level by level: from the ranks of one depth a search runs outwards through switches, one ring
/// of switches at a time, so that a rank is reached at the least depth and then by the fewest
/// hops. Among the arcs of one ring those with the largest share of their capacity left are taken
/// first; switches hand their feeders out in turn.
class Growth {
 public:
  /// Asked before a route is attached: the last word beyond the pool.
  using Guard = std::function<bool(std::span<const ArcId> route)>;

  Growth(PackingState& state, Guard guard, Budget& budget);

  /// Attaches what it can, until the budget is over; true where the tree then spans. False: nothing
  /// more was found that the residual capacities and the pool allow. `routes_tried` bounds how many
  /// routes through switches are tried for one edge; `detours` admits routes that are not the
  /// shortest through the switches. Cost: O(height · (n + m) + m log m) times the routes tried.
  bool extend(int routes_tried, bool detours);
  /// Could at least one more rank be attached?
  bool can_extend(int routes_tried);

 private:
  struct Candidate {
    std::int64_t key;  ///< smaller first: route length, then capacity used up
    ArcId arc;
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return a.key != b.key ? a.key < b.key : a.arc < b.arc;
    }
  };
  enum class Outcome {
    attached,
    refused,  ///< there is a way, which the cuts or the guard forbid
    dead,     ///< no way is left at all
  };
  struct Feeders {
    std::int64_t level = 0;  ///< of the search that filled this
    std::int32_t ring = 0;
    std::int32_t length = 0;  ///< hops from the ranks that the search began at
    std::size_t next = 0;
    std::vector<ArcId> arcs;
  };

  [[nodiscard]] bool is_usable(ArcId arc) const;
  bool expand(std::int32_t depth, bool only_test, int routes_tried);
  void scan(NodeId v, std::int32_t ring);
  bool attach_through(ArcId last, bool only_test, int budget);
  [[nodiscard]] bool returns() const;
  Outcome trace(NodeId v, bool only_test, int& budget);

  PackingState& state_;
  Guard guard_;
  const Core& core_;
  Budget& budget_;
  IdVector<ArcId, Capacity> step_;  ///< a 64th of the capacity, at least 1
  IdVector<NodeId, Feeders> feeders_;
  std::int64_t level_ = 0;
  bool detours_ = false;
  std::vector<NodeId> ring_, next_ring_;
  std::vector<Candidate> candidates_;
  std::vector<ArcId> route_, forward_;  ///< route_ is built from its end
};

}  // namespace forestcoll::solver
