// Runs of ranks that look alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/network.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll::solver {

/// How many different numbers there are. Cost: that of sorting them.
[[nodiscard]] std::size_t count_different(std::vector<std::uint64_t> numbers);

/// Of these ranks, those of the most common kind of run: boxes, racks. Runs need not begin at
/// multiples of their size, as a rank may be missing. None where no two look alike.
[[nodiscard]] std::vector<Rank> largest_class(const Network& network,
                                              const NodeColours& node_colours,
                                              const std::vector<Rank>& among);

}  // namespace forestcoll::solver
