// Shortest routes through switches, where what is overfull gets longer from round to round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/route_table.hpp"
#include "solver/common/core.hpp"
#include "solver/common/dijkstra.hpp"
#include "solver/height/common/tree_rows.hpp"

namespace forestcoll::solver {

/// Routes from ranks to others through switches alone, within the capacities or not. Negotiated
/// congestion (McMurchie, Ebeling 1995): what is overfull at the end of a round costs a toll from
/// then on, so that those who can do without it give way.
class NegotiatedRoutes {
 public:
  /// `capacity` is by resource. A search serves as many targets at once as `targets_per_search`.
  NegotiatedRoutes(const Core& core, const Resources& resources, IdVector<ArcId, Capacity> capacity,
                   RouteTable& table, std::size_t targets_per_search);

  /// The routes of `trees` trees from `root` to the targets, charged. False where a target cannot
  /// be reached. `routes` are by rank.
  /// Cost: O(m log m) for each search.
  [[nodiscard]] bool send(Rank root, std::int64_t trees, std::span<const Rank> targets,
                          std::span<Route> routes);
  /// For `trees` more; for so many less where negative.
  void charge(Route route, std::int64_t trees);

  [[nodiscard]] bool is_overfull(ArcId arc) const { return left_[resources_.of[arc]] < 0; }
  /// Ends a round. By how much all that is overfull is so.
  Int128 raise_tolls();

  /// By resource: capacity that is not used.
  [[nodiscard]] const IdVector<ArcId, Capacity>& left() const { return left_; }
  [[nodiscard]] std::int64_t searches() const { return searches_; }

 private:
  // An arc and its other end, with what its length is made of.
  struct Step {
    ArcId arc;
    NodeId node;
    ArcId resource;
    std::int64_t weight = 0;
    std::int64_t hops = 0;  ///< in lengths
  };

  void gather_arcs();
  [[nodiscard]] Step step(ArcId arc, NodeId node) const;
  [[nodiscard]] std::span<const Step> steps_into(Rank rank) const;
  void charge(ArcId arc, std::int64_t trees);
  void update_cost(ArcId resource);
  [[nodiscard]] std::int64_t length(const Step& step, std::int64_t trees) const;
  [[nodiscard]] std::size_t mark_ends(std::span<const Rank> targets);
  void search(NodeId root, std::int64_t trees, std::size_t ends);
  [[nodiscard]] Step last_step(NodeId root, Rank target, std::int64_t trees) const;
  PrefixId prefix_at(NodeId v);
  void charge_routes(NodeId root);

  const Core& core_;
  const Resources& resources_;
  RouteTable& table_;
  std::size_t targets_per_search_;
  std::int64_t searches_ = 0;
  std::int64_t full_;                          ///< what a full arc adds to its length
  IdVector<ArcId, Capacity> capacity_, left_;  ///< by resource
  IdVector<ArcId, double> per_unit_;           ///< 1 / capacity_
  IdVector<ArcId, std::int64_t> toll_;         ///< by resource, in lengths
  IdVector<ArcId, std::int64_t> cost_;         ///< by resource: its toll and what is used of it
  std::vector<std::size_t> first_inner_, first_into_;
  std::vector<Step> inner_;  ///< to switches, by tail
  std::vector<Step> into_;   ///< to ranks, by these
  Dijkstra shortest_;        ///< from a root to switches
  // Of that search, by node:
  std::vector<char> is_end_;  ///< next to a target
  std::vector<PrefixId> prefix_;
  std::vector<std::int64_t> passing_;  ///< trees to charge its last arc with
};

}  // namespace forestcoll::solver
