// Local search: a path for every part, such that the busiest link carries as little as possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/network.hpp"
#include "solver/alltoall/routes/hops.hpp"

namespace forestcoll::solver::alltoall {

/// A path of hops, in order.
using HopPath = std::vector<ArcId>;

/// What a rank has for another, in parts of equal size, each on a path of its own.
struct RoutedPair {
  Rank src, dst;
  std::vector<HopPath> parts;
};

struct PartSearch {
  const Network& network;
  const Hops& hops;
  const Demand& demand;
  std::int64_t k = 1;
  double at_most = 1;  ///< a rate that no paths exceed, in capacity per unit of demand
  /// Paths for k / 2 parts, each of which two parts could take; may be null.
  const std::vector<RoutedPair>* halves = nullptr;
  std::stop_token stop;
};

/// See `route_alltoall`. Pairs by (src, dst), those alone that have something to send.
[[nodiscard]] std::vector<RoutedPair> search_paths(const PartSearch& search);

}  // namespace forestcoll::solver::alltoall
