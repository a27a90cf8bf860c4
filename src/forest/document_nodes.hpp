// The names of a forest's file as nodes of a topology.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "forest/document.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::forest {

struct DocumentNodes {
  std::vector<NodeId> node;   ///< by name
  std::vector<Rank> rank_of;  ///< by name; invalid: no rank
  std::vector<NodeId> ranks;
};

/// What is wrong with a forest's file (F01, F02, T10), and where.
[[nodiscard]] Diagnostic flaw_of_forest(Code code, std::string_view file, std::string where,
                                        std::string message);

/// Errors: F02 an id that the topology has not, a rank that stands twice, is a switch, or the only
/// one. Cost: linear in both.
[[nodiscard]] Expected<DocumentNodes> find_nodes(const ForestDocument& document,
                                                 std::string_view file, const Topology& topology);

}  // namespace forestcoll::forest
