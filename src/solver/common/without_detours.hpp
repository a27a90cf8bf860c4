// What is left of a fabric for schedules, which name peers and no routes.
#pragma once

#include <optional>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver {

/// A fabric on which less can be done: its switches stand there several times.
struct RestrictedNetwork {
  Network network;
  /// Of each of its nodes, the one of the whole fabric that it stands for; invalid: for none, data
  /// only passes there. The whole fabric's nodes stand for themselves.
  IdVector<NodeId, NodeId> original;
};

/// The fabric without the turns at switches that no route of a runtime makes (`PeerRoutes`), as
/// from GPU to GPU of a box through a spine: a switch stands there once for each set of ways that
/// routes have out of it, with those links in that have this set, and links out that several of
/// them use are one link with that capacity. That data leaves a switch where it came from is left
/// as it is where the switch stays in fewer pieces by it.
///
/// Whatever a schedule sends by its routes fits the restricted fabric: no schedule is faster than
/// the optimum there. Trees on it may still take routes that are longer than those of a runtime.
/// None where every turn is made by some route, or where exact arithmetic does not hold it. Cost:
/// O(ranks · (m + turns that routes make)).
[[nodiscard]] std::optional<RestrictedNetwork> without_detours(const Network& network);

}  // namespace forestcoll::solver
