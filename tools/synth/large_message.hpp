// How long schedules take for a large message, to choose among them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fabric.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"
#include "synth/options.hpp"

namespace forestcoll::cli {

struct LargeMessageTimes {
  std::vector<std::optional<double>> seconds;  ///< by forest; none where it does not fit the target
  bool simulated = true;  ///< else estimated, as some schedule is too large, or cannot be simulated
};

/// Seconds for 1 GiB, as `simulate` has it, with the figures of the fabric's GPU; nothing where it
/// cannot be simulated within 5 million operations.
[[nodiscard]] std::optional<double> large_message_time(const std::string& schedule,
                                                       const Fabric& fabric);

/// For 1 GiB: what `simulate` says of the XML, with the figures of the GPU that the fabric names;
/// all of them by the estimate of --tune where one cannot be had. Where only one forest fits, that
/// is estimated.
/// Cost: of `verify` and `simulate` for each, 5 million operations at most.
[[nodiscard]] LargeMessageTimes large_message_times(const std::vector<Synthesis>& candidates,
                                                    const Fabric& fabric,
                                                    const SynthRequest& request);

}  // namespace forestcoll::cli
