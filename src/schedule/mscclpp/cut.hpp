// How much of a plan's work its busiest GPU has, and finer parts of it.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/mscclpp/blocks.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "schedule/mscclpp/segments.hpp"

namespace forestcoll::schedule {

/// Of the rank that has most: how many segments it has a part in, and how many chunks these have.
struct Busiest {
  std::int64_t segments = 0, chunks = 0;
};
/// Cost: O(segments · hops · log).
[[nodiscard]] Busiest busiest_of(const PlanContext& context);

/// Chunks are cut into `times` as many, and segments into such of at most `largest` chunks.
struct Cut {
  std::int64_t times = 1, largest = 1;
};
/// So that the busiest rank has about so many parts, but for chunks that are cut into a power of
/// two, since buffers are multiples of these, and no more than `most` times. REQUIRES: parts,
/// most and the busiest rank's chunks ≥ 1.
[[nodiscard]] Cut cut_into(std::int64_t parts, const Busiest& busiest, std::int64_t most);
[[nodiscard]] std::vector<Segment> cut_finer(const std::vector<Segment>& segments, const Cut& cut);

}  // namespace forestcoll::schedule
