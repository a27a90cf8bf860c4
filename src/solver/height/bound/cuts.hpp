// Heights that scarce cuts force.
#pragma once

#include <cstdint>

#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// Nodes and arcs: the steps of a search.
[[nodiscard]] inline std::int64_t size_of(const Network& network) {
  return static_cast<std::int64_t>(network.graph.node_count() + network.graph.arc_count());
}

/// A height that every forest within `scaling` has, from the capacity into tight sets of nodes;
/// at least 1. Size rules leave out what would cost more than a packing.
[[nodiscard]] std::int32_t height_forced_by_cuts(const Network& network, const Weights& weights,
                                                 const Scaling& scaling);

/// A height that every forest within `scaling` has, from how few edges there are through switches
/// where other edges go straight from rank to rank; at least 1.
[[nodiscard]] std::int32_t height_forced_by_switches(const Network& network, const Weights& weights,
                                                     const Scaling& scaling);

/// Can no forest within `scaling` consist of stars? All ranks must send to all at once then, which
/// lengths of arcs can refute: if the shortest paths add up to more than the capacities do, there
/// is no room (linear programming duality; Shahrokhi, Matula 1990).
[[nodiscard]] bool stars_are_impossible(const Network& network, const Weights& weights,
                                        const Scaling& scaling);

/// Is there no allreduce of height 1 at this rate, in the network's units, whatever the shares of
/// its roots, with both phases at once? False where that is not known. Cost: that of sorting the
/// fabric into tiers, for each of them, and up to 512 ranks of looking at all pairs.
[[nodiscard]] bool allreduce_stars_are_impossible(const Network& network, const Ratio& rate);

/// A height that every allreduce at this rate, in the network's units, has whatever the shares of
/// its roots, from links between boxes that are full; at least 1. Cost: that of
/// `divisions_into_boxes`, and of `farthest` for each kind of box.
[[nodiscard]] std::int32_t allreduce_height_forced_by_gates(const Network& network,
                                                            const Ratio& rate);

}  // namespace forestcoll::solver
