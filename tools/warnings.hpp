// What a schedule does not say of itself, and whoever loads it must know.
#pragma once

#include <string>

#include "command.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {

/// W10 for a schedule with a root: "one root", "root 3".
void warn_of_root(const std::string& root, const Console& console);

/// W11 where the schedule, which names no routes, reaches less than its forest.
void warn_of_routes(const CollectiveForest& forest, const Verdict& verdict, const Console& console);

/// What the calls of a plan must keep to: "  only if …", a line each.
[[nodiscard]] std::string condition_lines(const Verdict& verdict);

}  // namespace forestcoll::cli
