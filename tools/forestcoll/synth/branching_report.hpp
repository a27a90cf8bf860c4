// What `synth` says of trees that branch at switches.
#pragma once

#include <string>

#include "common/report.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// The lines of the summary between its head and the seconds. `without`: the best that was found
/// over GPUs alone.
[[nodiscard]] std::string branching_lines(const BranchingForest& forest,
                                          const CollectiveForest& without,
                                          const Topology& topology);

/// Puts what was written in place of what `json` says of `without`.
void put_branching(Json& json, const BranchingForest& forest, const CollectiveForest& without,
                   const Topology& topology);

}  // namespace forestcoll::cli
