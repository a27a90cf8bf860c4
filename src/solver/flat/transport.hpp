// What goes from where to where, so that the costliest way in use is as cheap as may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace forestcoll::solver {

/// A bottleneck transportation problem (Hammer 1969).
struct Transport {
  std::vector<std::int64_t> offered, wanted;                   ///< with the same sum
  std::function<std::int32_t(std::size_t, std::size_t)> cost;  ///< of a unit from one to the other
};

/// By what is offered and what is wanted: amounts whose greatest cost is the least, and those of
/// the cheapest ways first. Nothing where sums differ. Cost: that of a maximum flow by augmenting
/// paths on the ways up to each cost, in turn.
[[nodiscard]] std::optional<std::vector<std::vector<std::int64_t>>> lowest_transport(
    const Transport& transport);

}  // namespace forestcoll::solver
