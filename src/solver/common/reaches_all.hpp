#pragma once

#include "forestcoll/network.hpp"

namespace forestcoll::solver {

/// Whether the first rank reaches all others, through switches and ranks. REQUIRES: there is a
/// rank. Cost: O(n + m).
[[nodiscard]] bool reaches_all(const Network& network);

}  // namespace forestcoll::solver
