// The independent checker of the benchmarks: by definition, and fast enough for 10^8 tree edges.
#pragma once

#include <string>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::bench {

/// Every tree spans and has the height that it says, every path follows arcs of the network through
/// switches alone, the loads stay within scale·b, and every rank roots k·weight trees. Empty where
/// all holds, else what does not.
/// Cost: each parent and each path of the forest is read once.
[[nodiscard]] std::string find_flaw(const Network& network, const Weights& weights,
                                    const Scaling& scaling, const Forest& forest);

/// The same for forests of more than 10^8 edges, by what they are made of: the generators are
/// automorphisms of the network that commute and have their orders, the base trees span, and the
/// loads, spread over the arcs' orbits, fit. Of the images, 64 are looked at one by one.
/// Cost: each parent and path of the base trees and of the 64 is read once.
[[nodiscard]] std::string find_flaw_by_orbits(const Network& network, const Weights& weights,
                                              const Scaling& scaling, const Forest& forest);

}  // namespace forestcoll::bench
