// How a message gets from one rank to another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/network.hpp"

namespace forestcoll::baseline {

/// Where a path may lead.
enum class Through {
  box,       ///< switches of the ranks' own box
  switches,  ///< switches
  ranks,     ///< switches and other ranks, which relay
};

/// All nodes that are passed, ends included; empty: there is no path.
using Path = std::vector<NodeId>;

/// Finds paths of the fewest arcs, of these the widest, of these those whose arcs were taken least,
/// as a network that routes over equal paths spreads its load, of these those through the lowest
/// ids.
class PathFinder {
 public:
  /// `box_of` says which box a node is in, −1 for none; both must outlive the finder.
  PathFinder(const Network& network, const IdVector<NodeId, std::int32_t>& box_of)
      : network_(network), box_of_(box_of) {}

  /// Cost: a breadth-first search where source or kind differ from the last call's, else the path.
  [[nodiscard]] Path find(Rank from, Rank to, Through through);
  /// The same; its arcs count as taken. For one source that is seen from the next search on.
  [[nodiscard]] Path take(Rank from, Rank to, Through through);
  /// Of the path that `find` gives: its arcs, 0 for none, and the capacity of its narrowest arc.
  [[nodiscard]] std::int32_t arcs(Rank from, Rank to, Through through);
  [[nodiscard]] Capacity width(Rank from, Rank to, Through through);

 private:
  struct Mark {
    std::int32_t arcs = -1;
    Capacity width = 0;
    std::int64_t taken = 0;  ///< of the arc on the path that was taken most
    NodeId before;
  };
  [[nodiscard]] static bool is_better(const Mark& a, const Mark& b);
  void search(Rank from, Through through);
  const Mark& mark(Rank from, Rank to, Through through);

  const Network& network_;
  const IdVector<NodeId, std::int32_t>& box_of_;
  Rank source_;
  Through through_ = Through::switches;
  IdVector<NodeId, Mark> marks_;
  IdVector<ArcId, std::int64_t> taken_;  ///< how often
  std::vector<NodeId> reached_;          ///< in the order of the search
};

/// The arcs of a path. REQUIRES: it follows arcs of `network`.
[[nodiscard]] std::vector<ArcId> arcs_of(const Network& network, std::span<const NodeId> path);
/// Does it pass through a rank?
[[nodiscard]] bool relays(const Network& network, std::span<const NodeId> path);

}  // namespace forestcoll::baseline
