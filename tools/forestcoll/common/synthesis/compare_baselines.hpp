// What a schedule is compared with: the optimum, other algorithms, other k, the fabric before it
// failed.
#pragma once

#include <optional>

#include "command.hpp"
#include "common/report/rate_report.hpp"
#include "common/synthesis/made_schedule.hpp"
#include "common/synthesis/prepare.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// Sets the figures, and what else this fabric could do: NCCL's rings, relays.
void compare_baselines(MadeSchedule& made, const PreparedSynthesis& prepared,
                       const Console& console);

/// Of --tradeoff: the rates of other k and of lower trees; when the time is over, those found by
/// then. None where it was not asked for.
[[nodiscard]] Expected<std::optional<Tradeoff>> find_tradeoff(const MadeSchedule& made,
                                                              const PreparedSynthesis& prepared,
                                                              const Console& console);

/// What --drop and --derate cost: the same is made for the fabric before, up to 64 GPUs. With times
/// at 1 MiB, 64 MiB and 1 GiB, by simulation with the figures of the fabrics' GPUs, where both
/// schedules can be simulated. None where nothing failed.
[[nodiscard]] Expected<std::optional<FailurePrice>> price_of(const MadeSchedule& after,
                                                             const PreparedSynthesis& prepared,
                                                             const Console& console);

}  // namespace forestcoll::cli
