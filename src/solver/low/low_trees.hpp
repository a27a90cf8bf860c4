// The cheapest spanning trees of limited height, at prices of links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/common/dijkstra.hpp"

namespace forestcoll::solver {

/// A spanning out-tree as routes of arcs.
struct LowTree {
  Rank root;
  std::vector<Rank> parent;                ///< by rank; invalid at the root
  std::vector<std::vector<ArcId>> routes;  ///< by rank: from its parent; empty at the root
};

/// The height of a tree, in hops between ranks.
[[nodiscard]] std::int32_t height_of(const LowTree& tree);

/// Finds trees no higher than a limit at prices that change from call to call. With up to
/// `kMostExact` ranks they are the cheapest, by dynamic programming over the sets of ranks that
/// so many hops reach: 3^N steps per hop, for all roots together. Trees of one hop are, too, as a
/// root has no other. Otherwise they are a local search's: ranks get other parents as long as that
/// is cheaper.
class LowTreeSearch {
 public:
  static constexpr std::size_t kMostExact = 10;

  /// REQUIRES: `network` outlives this.
  LowTreeSearch(const Network& network, std::int32_t height);

  /// Are trees no higher than that the cheapest?
  [[nodiscard]] static bool is_exact(std::size_t ranks, std::int32_t height) {
    return ranks <= kMostExact || height <= 1;
  }
  [[nodiscard]] bool is_exact() const { return is_exact(ranks_, height_); }
  [[nodiscard]] bool is_by_sets() const { return ranks_ <= kMostExact; }
  /// REQUIRES: no price is negative, and all together are below 2^52. Cost: a search per rank
  /// for the cheapest routes through switches, and 3^N steps per hop where trees are exact.
  void set_prices(const IdVector<ArcId, std::int64_t>& prices);
  /// What a local search begins with: a breadth-first tree, or one cheapest edge after the other,
  /// which finds other ways into groups of ranks but no tree where only deep ones are cheap.
  enum class Start { breadth_first, cheapest_edges };
  /// Trees of this root are to be as low as that, if it is lower than the limit for all.
  void limit(Rank root, std::int32_t height);
  /// At these prices. Nothing where no tree from this root is as low as that.
  [[nodiscard]] std::optional<LowTree> cheapest(Rank root, Start start = Start::breadth_first);
  /// What the edges of a tree cost, each by the cheapest route.
  [[nodiscard]] std::int64_t cost_of(const LowTree& tree) const;

 private:
  static constexpr std::int64_t kNever = Dijkstra::kUnreached;
  using Parents = std::vector<Rank>;

  [[nodiscard]] std::int64_t between(std::size_t u, std::size_t v) const {
    return distance_[u * ranks_ + v];
  }
  void find_routes(const IdVector<ArcId, std::int64_t>& prices);
  void find_sets();
  void extend(std::size_t reached, const std::vector<std::int64_t>& fewer,
              std::vector<std::int64_t>& costs, std::vector<std::uint16_t>& next);
  [[nodiscard]] std::optional<Parents> by_sets(Rank root) const;
  [[nodiscard]] std::optional<Parents> breadth_first(Rank root) const;
  [[nodiscard]] std::optional<Parents> by_cheapest_edges(Rank root) const;
  void improve(Rank root, Parents& parents) const;
  bool improve_once(Rank root, Parents& parents) const;
  [[nodiscard]] LowTree tree_of(Rank root, const Parents& parents) const;

  const Network& network_;
  const std::size_t ranks_;
  const std::int32_t height_;
  std::vector<std::int32_t> limits_;  ///< by root
  Dijkstra dijkstra_;
  std::vector<std::int64_t> distance_;  ///< by pair of ranks
  std::vector<std::int64_t> least_;     ///< by rank: from any other one
  std::vector<std::vector<ArcId>> by_;  ///< by rank: the last arc of the route to each node
  std::vector<std::vector<std::int64_t>> costs_;  ///< by hops left and set: what is to be paid
  std::vector<std::vector<std::uint16_t>> next_;  ///< the set one hop later
  std::vector<std::int64_t> nearest_, sums_;      ///< of the set at hand
};

}  // namespace forestcoll::solver
