// Low forests from the linear program over trees of limited height.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"

namespace forestcoll::solver {

struct LowPackings {
  std::vector<Packing> packings;
  /// What a unit of weight gets at most, in the network's units; nothing where that is not known.
  std::optional<double> most = {};
};

/// Forests no higher than `height`: of its solution where any number of trees will do, and of this
/// rounded to each of `numbers` of trees per unit of weight. None where no solution was found, or
/// none that needs U per tree of `most_scale` at most.
/// `options`: to stop, and what is known. Cost: that of `solve_low`, and up to 50 ms for each
/// number.
[[nodiscard]] LowPackings pack_by_program(const Network& network, const Weights& weights,
                                          std::int32_t height,
                                          std::span<const std::int64_t> numbers, bool is_any_number,
                                          const PackOptions& options,
                                          const std::optional<Ratio>& most_scale = {});

}  // namespace forestcoll::solver
