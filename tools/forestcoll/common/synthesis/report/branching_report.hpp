// What `synth` says of trees that branch at switches.
#pragma once

#include <string>

#include "common/report/report.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// What was written: the trees, or a plan that sums up in switches, or one that stores packets
/// through them, or one that puts them at each GPU.
enum class Branching { trees, sums, packets, packets_apart };

/// The lines of the summary below its rate. `without`: the best that was found over GPUs alone.
[[nodiscard]] std::string branching_lines(const BranchingForest& forest,
                                          const CollectiveForest& without, const Topology& topology,
                                          Branching written, const RateFigures& rates);

/// Puts what was written in place of what `json` says of `without`.
void put_branching(Json& json, const BranchingForest& forest, const CollectiveForest& without,
                   const Topology& topology);

}  // namespace forestcoll::cli
