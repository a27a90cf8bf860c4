// How long the schedules of several forests take for a large message, to choose among them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "choose/fit_threadblocks.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::choose {

inline constexpr std::int64_t kLargeMessage = std::int64_t{1} << 30;  ///< bytes

/// Seconds for so many bytes, of one size simulated within those limits; infinite beyond
/// `limits.most_seconds`, none where it cannot be simulated.
[[nodiscard]] std::optional<double> seconds_within(std::string_view schedule, const Fabric& fabric,
                                                   std::int64_t bytes,
                                                   const SimulationOptions& limits);

/// Seconds for `kLargeMessage`, as `simulate` has them of the XML or the plan, with the figures of
/// the GPU that the fabric names; none where there is no plan, it cannot be simulated within 5
/// million operations, or the solver is asked to stop. REQUIRES: the protocol of `options.xml` is
/// chosen; for XML the forest has its schedule. Cost: of `verify` and `simulate`; of a plan for
/// each of its shapes.
[[nodiscard]] std::optional<double> candidate_time(const ChosenForest& candidate,
                                                   const Fabric& fabric,
                                                   const CompileOptions& options);

/// The same of several; none where one has none.
[[nodiscard]] std::optional<std::vector<double>> candidate_times(
    const std::vector<FittedForest>& candidates, const Fabric& fabric,
    const CompileOptions& options);

}  // namespace forestcoll::choose
