// The links that flows can be held up by.
#pragma once

#include <span>
#include <vector>

#include "simulate/fabric/event_graph.hpp"

namespace forestcoll::simulate {

/// By link, whether it may be full while all others have room: not where all flows over it load
/// another link at least as much, each for its capacity, as the way from a GPU to its NIC and from
/// there to the network. Rates that are max–min fair do not depend on links that are never full
/// alone, and of links that are always full together the first is enough. `capacity` in bytes per
/// second. Cost: O(parts · the longest route²).
[[nodiscard]] std::vector<char> binding_links(std::span<const double> capacity,
                                              std::span<const FlowKind> kinds);

}  // namespace forestcoll::simulate
