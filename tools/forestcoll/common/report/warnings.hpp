// What a schedule does not say of itself, and whoever loads it must know.
#pragma once

#include <cstddef>
#include <string>

#include "command.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {

/// W10 for a schedule with a root: "one root", "root 3".
void warn_of_root(const std::string& root, const Console& console);

/// W11 where the schedule, which names no routes, reaches less than its forest.
void warn_of_routes(const CollectiveForest& forest, const Verdict& verdict, const Console& console);

/// W11 where an all-to-all as XML reaches less, by more than a hundredth, than as paths.
void warn_of_peers(const Compilation& made, const Console& console);

/// W13 for a broadcast or reduce in Simple between boxes.
void warn_of_simple(Collective collective, const Console& console);

/// W14 for LL128 where the runtime does not use it itself.
void warn_of_ll128(const std::string& why, const Console& console);

/// W15 where no call with a power of two of elements selects the schedule, as the target counts the
/// part of one rank and the ranks are no power of two.
void warn_of_counts(const Verdict& verdict, const TargetLimits& target, const Console& console);
/// I24 where a format has no place for capacities that links share.
void warn_of_lost_limits(std::size_t count, const Console& console);
/// What the calls of a plan must keep to: "  only if …", a line each.
[[nodiscard]] std::string condition_lines(const Verdict& verdict);

}  // namespace forestcoll::cli
