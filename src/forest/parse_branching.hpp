// Version 3 of forest JSON.
#pragma once

#include <cstdint>
#include <string_view>

#include "forest/document.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::forest {

inline constexpr std::int64_t kBranchingVersion = 3;

/// See `parse_any_forest`. REQUIRES: the document is of this version.
[[nodiscard]] Expected<BranchingForest> parse_branching(const ForestDocument& document,
                                                        std::string_view file,
                                                        const Topology& topology);

}  // namespace forestcoll::forest
