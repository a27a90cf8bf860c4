// Who exchanges with whom, step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/id.hpp"

namespace forestcoll::schedule {

/// What a rank does with a partner; it sends before it receives.
struct Meeting {
  Rank partner;
  bool sends = false, receives = false;
  bool adds = false;  ///< what it receives, else that takes the place of what it has
};

/// By rank, in order. Recursive doubling with the partner 2^i away in step i, among the largest
/// power of two of ranks; the others hand over to a neighbour first, and get the result at the end.
[[nodiscard]] IdVector<Rank, std::vector<Meeting>> doubling_meetings(std::size_t ranks);

/// The same with distances (1 − (−2)^(i+1)) / 3, even ranks forward, odd ones backward. Nothing
/// where the number of ranks is no power of two, as some would then be counted twice.
[[nodiscard]] std::optional<IdVector<Rank, std::vector<Meeting>>> swing_meetings(std::size_t ranks);

}  // namespace forestcoll::schedule
