// How long the schedules of several forests take for a large message, to choose among them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "choose/fit_threadblocks.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/simulate.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::choose {

/// Seconds for so many bytes, as `simulate` has them with the figures of the GPU that the fabric
/// names; infinite beyond `limits.most_seconds`, none where they are not found within the limits.
[[nodiscard]] std::optional<double> seconds_within(std::string_view schedule, const Fabric& fabric,
                                                   std::int64_t bytes,
                                                   const SimulationOptions& limits);

/// The same of a plan that is known to be right, which is not verified. None where it cannot be
/// simulated within `scale::kMostEventsOfTrees`, or the solver is asked to stop.
[[nodiscard]] std::optional<double> plan_seconds(
    const ExecutionPlan& plan, const Fabric& fabric, std::int64_t bytes,
    const std::stop_token& stop, double most_seconds = std::numeric_limits<double>::infinity());

/// The same of the forest's schedule, for `kLargeMessage`. REQUIRES: the protocol of `options.xml`
/// is chosen; for XML the forest has its schedule. Cost: that of simulating it, or the plan in each
/// of its shapes.
[[nodiscard]] std::optional<double> candidate_time(const ChosenForest& candidate,
                                                   const Fabric& fabric,
                                                   const CompileOptions& options);

/// The same of several; none where one has none.
[[nodiscard]] std::optional<std::vector<double>> candidate_times(
    const std::vector<FittedForest>& candidates, const Fabric& fabric,
    const CompileOptions& options);

}  // namespace forestcoll::choose
