// What a path of an all-to-all can be made of, and what links it loads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver::alltoall {

/// A link that a hop loads with a share of its data.
struct LinkShare {
  ArcId link;
  double share = 1;
};

/// Hops as arcs of a digraph on the nodes of the network, and what each of them loads.
struct Hops {
  Digraph graph;
  std::vector<std::size_t> begin;  ///< by hop, and one more: where its shares begin
  std::vector<LinkShare> shares;

  [[nodiscard]] std::span<const LinkShare> of(ArcId hop) const {
    return {shares.data() + begin[hop.index()], shares.data() + begin[hop.index() + 1]};
  }
};

/// Every link is a hop.
[[nodiscard]] Hops link_hops(const Network& network);

/// Every pair of compute nodes between which switches alone can lead is a hop. Its data takes the
/// routes with the fewest hops, from a compute node over the widest of them, from a switch over all
/// in proportion to their width, which is the least capacity from there on: what a runtime is taken
/// to do that is told of peers, not of links. Cost: O(ranks · m) and what the routes have of links.
[[nodiscard]] Hops peer_hops(const Network& network);

}  // namespace forestcoll::solver::alltoall
