// Reading forest JSON back, to go on from it.
#pragma once

#include <string_view>
#include <variant>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// Reads what `to_forest_json` and `to_symmetric_forest_json` write; images are worked out on
/// demand, in the order that the first of the two gives them. NodeIds are those of `topology`,
/// which must know every id of the file; disabled nodes count. The rates are taken as they stand:
/// this is no check of the claim, see `verify`. Errors: F01 not such a file, F02 a tree that is
/// none, or a node that the topology has not, both with the place; T10 more than 50 million edges,
/// images counted. Cost: linear in the text, some 30 bytes per edge.
[[nodiscard]] Expected<CollectiveForest> parse_forest(std::string_view text, std::string_view file,
                                                      const Topology& topology);

/// A forest over GPUs, or one whose trees branch at switches (version 3).
using AnyForest = std::variant<CollectiveForest, BranchingForest>;

/// The same of any version. In version 3 trees with the same branching points are together, as
/// `BranchingTrees` has them; whether the switches can copy or combine is not looked at.
/// Errors and cost: the same.
[[nodiscard]] Expected<AnyForest> parse_any_forest(std::string_view text, std::string_view file,
                                                   const Topology& topology);

}  // namespace forestcoll
