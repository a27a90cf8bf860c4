// How long the schedules of several forests take for a large message, to choose among them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "choose/fit_threadblocks.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"

namespace forestcoll::choose {

inline constexpr std::int64_t kLargeMessage = std::int64_t{1} << 30;  ///< bytes

struct CandidateTimes {
  std::vector<std::optional<double>> seconds;  ///< by forest; none where it has no schedule
  bool simulated = true;  ///< else estimated, as some schedule was too large, or time was up
};

/// For `kLargeMessage`: what `simulate` says of the XML, with the figures of the GPU that the
/// fabric names; all of them by `estimated_seconds` where one cannot be had. Where only one forest
/// fits, that is estimated, and so are all where the solver is asked to stop meanwhile.
/// REQUIRES: the protocol of `options.xml` is chosen. Cost: of `verify` and `simulate` for each, 5
/// million operations at most.
[[nodiscard]] CandidateTimes candidate_times(const std::vector<FittedForest>& candidates,
                                             const Fabric& fabric, const CompileOptions& options);

}  // namespace forestcoll::choose
