// Forest JSON as its file says, with its names as nodes of a topology.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/forest/file.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::forest {

/// As the checker reads it, so that a format has one reader. Keys that it does not know are passed
/// over. Error F01: no JSON, or a value of the wrong type, or more than memory is meant for.
[[nodiscard]] Expected<audit::ForestFile> read_document(std::string_view text,
                                                        std::string_view file);

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
[[nodiscard]] Expected<DocumentNodes> find_nodes(const audit::ForestFile& document,
                                                 std::string_view file, const Topology& topology);

}  // namespace forestcoll::forest
