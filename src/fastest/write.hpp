// What won, as it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

/// Ends the window at so many bytes, the most that a schedule has room for.
void keep_below(std::int64_t max_bytes, CompileOptions& options);

/// What won, written for the sizes of the window; none: for all that it can be for. With the
/// checker's opinion; of paths with their scratch alone. Tells of no progress, as several may be
/// written at once. Errors: those of `compile_forest`.
[[nodiscard]] Expected<Compilation> write_winner(const Contest& contest, std::size_t contender,
                                                 const Fabric& fabric,
                                                 const std::optional<SizeWindow>& window,
                                                 const std::string& plan_name);
/// The same with the routes of an all-to-all and what others reach; the proof is left to be set.
[[nodiscard]] Expected<Compilation> compile_winner(const Contest& contest, std::size_t contender,
                                                   const Fabric& fabric,
                                                   const std::optional<SizeWindow>& window);

/// The choice, as it is reported.
[[nodiscard]] FastestChoice describe(const Contest& contest, const Winner& winner,
                                     std::int64_t bytes, const Fabric& fabric);

/// S03: no size is served. REQUIRES: none of the contest's sizes is.
[[nodiscard]] Diagnostic nothing_served(Contest& contest, std::string_view option);

}  // namespace forestcoll::fastest
