// What is said of a schedule that was made: text and JSON.
#pragma once

#include <string>

#include "common/report/report.hpp"
#include "common/synthesis/made_schedule.hpp"
#include "common/synthesis/prepare.hpp"

namespace forestcoll::cli {

/// Lines for people, the last one not ended. REQUIRES: what `compare_baselines` sets, here and
/// below.
[[nodiscard]] std::string report_of(const MadeSchedule& made, const PreparedSynthesis& prepared,
                                    const SynthSeconds& seconds, bool verbose);

/// {"format": "forestcoll-synth", "version": 3, …}
[[nodiscard]] Json summary_of(const MadeSchedule& made, const PreparedSynthesis& prepared,
                              const SynthSeconds& seconds);

}  // namespace forestcoll::cli
