// Forest JSON and pictures of trees that branch at switches.
#pragma once

#include <string>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// {"format":"forestcoll-forest","version":3,…}: as version 1, but a switch that copies or combines
/// stands as an end of edges, or of an allreduce as a root; and instead of k and weights there is
/// the number of `chunks` that the data is cut into. The schema is
/// tools/schema/forestcoll-forest.schema.json. Cost: linear in the text.
[[nodiscard]] std::string to_forest_json(const BranchingForest& forest, const Topology& topology);
/// Graphviz, one cluster per tree; switches at which it branches are ellipses. Cost: linear in the
/// text.
[[nodiscard]] std::string to_dot(const BranchingForest& forest, const Topology& topology);

}  // namespace forestcoll
