// How long the schedules of several forests take for a large message, to choose among them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/compile.hpp"

namespace forestcoll::choose {

inline constexpr std::int64_t kLargeMessage = std::int64_t{1} << 30;  ///< bytes

/// A forest that may be chosen.
struct CandidateForest {
  Synthesis synthesis;
  std::optional<Schedule> schedule = {};  ///< where it was lowered before
};

/// Lowers those that were not, where that fits the target.
void lower_candidates(std::vector<CandidateForest>& candidates, const LowerOptions& options);

struct CandidateTimes {
  std::vector<std::optional<double>> seconds;  ///< by forest; none where it has no schedule
  bool simulated = true;  ///< else estimated, as some schedule is too large, or cannot be simulated
};

/// For `kLargeMessage`: what `simulate` says of the XML, with the figures of the GPU that the
/// fabric names; all of them by `estimated_seconds` where one cannot be had. Where only one forest
/// fits, that is estimated. REQUIRES: the protocol of `options.xml` is chosen, the candidates are
/// lowered. Cost: of `verify` and `simulate` for each, 5 million operations at most.
[[nodiscard]] CandidateTimes candidate_times(const std::vector<CandidateForest>& candidates,
                                             const Fabric& fabric, const CompileOptions& options);

}  // namespace forestcoll::choose
