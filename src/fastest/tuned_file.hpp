// What won for a range of sizes, as a file for these sizes alone.
#pragma once

#include <cstdint>

#include "fastest/contest.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll::fastest {

/// Sizes with the same winner, bytes, both included.
struct SizeRange {
  std::int64_t first = 0, last = 0;
  Winner winner;  ///< at `first`
};

/// Written and verified, XML or a plan as the contest is; its trees go to `trees`. Errors: those of
/// lowering, and the checker's findings.
[[nodiscard]] Expected<TunedFile> tuned_file(const Contest& contest, const SizeRange& range,
                                             const Fabric& fabric, CollectiveForest& trees);

}  // namespace forestcoll::fastest
