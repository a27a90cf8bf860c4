// Moving the routes that reach single ranks, and whatever they push out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/id.hpp"
#include "solver/height/edges/rows.hpp"

namespace forestcoll::solver {

/// How far one attempt looks.
struct MoveLimits {
  int chain = 2;                  ///< routes that may be pushed out one after another
  std::size_t routes = 12;        ///< new routes tried for one edge
  std::size_t users = 64;         ///< users of a full resource that are asked to move
  std::int64_t arcs = 4096;       ///< looked at in one search for routes
  std::int64_t attempt = 20'000;  ///< steps of one attempt
};

/// Finds an edge a new route within the residual capacities. Where a resource is full, one of its
/// users moves first, for which another may move in turn (an ejection chain: Glover 1996).
class HeightMoves {
 public:
  /// Trees are split until there are `most_trees`.
  HeightMoves(HeightRows& rows, Resources& resources, std::size_t most_trees);

  /// Moves the edge to a route after which no path through its node, nor through any node that
  /// had to move for it, is longer than `limit`. A tree may be split, so that only a part of its
  /// multiplicity moves. False where none was found: then nothing has changed.
  bool move(TreeEdge edge, std::int32_t limit, const MoveLimits& limits);

  /// Of all exchanges with another edge of the ways by which the two reach a node, the best one, in
  /// the sense of `move`. Loads stay as they are. False: none helps.
  bool exchange(TreeEdge edge, std::int32_t limit);

  /// Moves up to `amount` trees' worth of the edge to a route within the
  /// residual capacities, which may be negative elsewhere, as `move` does. Where only ranks below
  /// its node have such a route, one of its children takes that, and the node follows the child.
  bool reroute(TreeEdge edge, std::int64_t amount, std::int32_t limit, const MoveLimits& limits);

  /// The next one in turn of the edges whose routes use the resource; nothing without one.
  [[nodiscard]] std::optional<TreeEdge> next_user(ArcId resource);
  /// No fewer than the edges whose routes use the resource.
  [[nodiscard]] std::size_t most_users(ArcId resource) const { return users_[resource].size(); }

  /// Exchanges the routes that reach the group's ranks between the tree and another one (of the
  /// one with the larger multiplicity a part), so that fewer nodes are deeper than `limit` in the
  /// two.
  bool exchange_group(std::size_t tree, std::span<const Rank> group, std::int32_t limit);

  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  struct Candidate {
    std::vector<ArcId> arcs;
    std::int32_t depth = 0;  ///< of the origin
    ArcId full;              ///< the resource that is used up on the way; invalid: none
  };
  struct State {
    NodeId node;
    ArcId arc;   ///< out of the node, towards the edge's rank
    int toward;  ///< the state that the arc leads to; −1: the edge's rank
    ArcId full;
  };
  /// An exchange of the ways by which two edges' routes reach a node.
  struct Exchange {
    std::int64_t gain = 0;
    TreeEdge user;
    std::vector<ArcId> arcs, their_arcs;  ///< the new routes
  };
  struct Step {
    TreeEdge edge;
    Route before, after;
  };
  /// What stays as it was of a tree, `amount_` of which moves by several edges.
  struct SplitOff {
    std::size_t tree, copy;
  };

  [[nodiscard]] std::vector<Candidate> find_routes(TreeEdge edge, std::int32_t limit,
                                                   bool through_full);
  bool place(TreeEdge edge, std::int32_t limit, int chain);
  bool push_out(const Candidate& candidate, std::int32_t limit, int chain);
  void judge_users(TreeEdge edge, ArcId into, std::span<const ArcId> passed,
                   std::span<const ArcId> rest, std::int32_t limit);
  bool replace(std::span<const ArcId> arcs, TreeEdge user, std::int32_t limit, int chain);
  void arcs_of(Route route, std::vector<ArcId>& arcs) const;
  [[nodiscard]] std::int64_t weight(std::int32_t length) const;
  bool find_places(TreeEdge edge, std::int32_t limit);
  [[nodiscard]] std::int64_t room_in_places() const;
  void undo_all();
  bool follow_child(TreeEdge edge, std::int32_t limit);
  bool follow(TreeEdge edge, TreeEdge child, std::int32_t limit);
  void take_step_back();
  [[nodiscard]] bool can_move(TreeEdge user) const;
  [[nodiscard]] bool fits(std::span<const ArcId> arcs) const;
  [[nodiscard]] bool in_chain(std::size_t tree) const;
  void take(Route route, std::int64_t times);
  void begin_step(TreeEdge edge);
  void end_step(Route after);
  void undo_step();
  void commit();
  void index_users();
  void add_user(TreeEdge edge);
  void refresh_index();
  [[nodiscard]] bool may_split() const { return rows_.tree_count() < most_trees_; }
  bool exchange_parts(std::size_t tree, std::size_t other, std::span<const Rank> group,
                      std::int32_t limit);
  bool exchange_with(std::size_t tree, std::size_t other, std::span<const Rank> group,
                     std::int32_t limit);

  HeightRows& rows_;
  Resources& resources_;
  MoveLimits limits_;
  std::int32_t weight_base_ = 0;
  std::int64_t amount_ = 0;  ///< the multiplicity that moves
  std::vector<Step> steps_taken_;
  std::optional<SplitOff> split_off_;
  std::vector<State> states_;
  Exchange best_;
  std::vector<ArcId> ours_, theirs_, joined_, their_joined_;
  IdVector<NodeId, std::int64_t> seen_free_, seen_full_;  ///< the search that saw the node
  std::int64_t search_ = 0;
  std::int64_t steps_ = 0, attempt_end_ = 0;
  /// An edge in 8 bytes.
  struct User {
    std::uint32_t tree, node;
  };
  /// By resource: edges whose routes use it. May hold edges that no longer do, or one twice.
  IdVector<ArcId, std::vector<User>> users_;
  std::size_t added_ = 0, added_at_most_ = 0;
  IdVector<ArcId, std::size_t> next_user_;
  std::size_t most_trees_;
  std::size_t next_tree_ = 0;
  std::optional<TreeEdge> above_;  ///< no route may begin at or below its node
};

}  // namespace forestcoll::solver
