// Reading forest JSON back, to go on from it.
#pragma once

#include <string_view>

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

}  // namespace forestcoll
