// Who is not beaten by anybody.
#pragma once

#include <vector>

#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// What counts, each the smaller, the better.
using Objectives = std::vector<Ratio>;

/// By position: is there no other that is as good in all and better in one? Those that are alike
/// are on the front together. REQUIRES: all have as many objectives. Cost: O(count²).
[[nodiscard]] std::vector<bool> pareto_front(const std::vector<Objectives>& all);

}  // namespace forestcoll::solver
