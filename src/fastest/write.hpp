// What won, as it is written.
#pragma once

#include "fastest/contest.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::fastest {

/// The candidate with its programs, and for an exchange the rate that the checker finds.
struct Lowered {
  ChosenForest chosen;  ///< `schedule` is set
  CompileOptions options;
};
[[nodiscard]] Expected<Lowered> lower_as_written(const Candidate& candidate, const Fabric& fabric,
                                                 CompileOptions options);
/// Within what it has room for.
[[nodiscard]] Expected<Lowered> lower_winner(const Contest& contest, std::size_t contender,
                                             const Fabric& fabric);

/// Ends the window at so many bytes, the most that a schedule has room for.
void keep_below(std::int64_t max_bytes, CompileOptions& options);

/// What won as a plan of MSCCL++, with the checker's opinion. REQUIRES: the contest is of plans.
[[nodiscard]] Expected<Compilation> compile_plan(const Contest& contest, std::size_t contender,
                                                 const Fabric& fabric);

/// The choice, as it is reported.
[[nodiscard]] FastestChoice describe(const Contest& contest, const Winner& winner,
                                     std::int64_t bytes, const Fabric& fabric);

/// S03: no size is served. REQUIRES: none of the contest's sizes is.
[[nodiscard]] Diagnostic nothing_served(const Contest& contest, std::string_view option);

}  // namespace forestcoll::fastest
