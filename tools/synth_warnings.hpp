// What a schedule does not say of itself, and whoever loads it must know.
#pragma once

#include "command.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {

/// W10 where the collective has a root.
void warn_of_root(Collective collective, const Console& console);

/// W11 where the schedule, which names no routes, reaches less than its forest.
void warn_of_routes(const CollectiveForest& forest, const Verdict& verdict, const Console& console);

}  // namespace forestcoll::cli
