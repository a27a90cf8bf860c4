// Trees that grow step by step, as tables of collective algorithms have them.
#pragma once

#include <bit>
#include <cstddef>
#include <functional>
#include <vector>

#include "baseline/implicit_forest.hpp"

namespace forestcoll::baseline {

/// Whom a rank that has the root's data hands it to in a step.
using Handing = std::function<std::vector<Rank>(Rank root, Rank holder, std::size_t step)>;

/// In which so many ranks get what one of them has, where in each step each hands it to one.
[[nodiscard]] inline std::size_t binomial_steps(std::size_t ranks) {
  return static_cast<std::size_t>(std::bit_width(ranks - 1));
}

/// One tree per root: in every step all ranks that had the data before it hand it on; who has it
/// already is passed over. Messages between two ranks take the same path in all trees, through
/// switches alone where these join them. Error B02: some rank is never reached. Cost: O(N² ·
/// steps).
[[nodiscard]] Expected<ImplicitForest> grow_trees(const Request& request, const Network& network,
                                                  std::size_t steps, const Handing& hand);

}  // namespace forestcoll::baseline
