// Forest JSON as it stands in a file, not yet put together.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::forest {

/// A node of the file, by the order in which names first appear.
using Name = std::int32_t;

struct DocumentTree {
  Name root = -1;
  std::int64_t multiplicity = 0;
  std::size_t edges_begin = 0, edges_end = 0;
  bool images = false;  ///< version 2: stands for its images under the list's symmetry too
};

/// Version 2: a permutation of nodes by its cycles, and the order that the file gives it.
struct DocumentGenerator {
  std::int64_t order = 0;
  std::vector<std::vector<Name>> cycles;
};

/// The lists of trees, in the order of `list_names`.
inline constexpr std::array<std::string_view, 3> kListNames = {"trees", "reduce", "broadcast"};

struct ForestDocument {
  std::string format, collective;
  std::int64_t version = 0, k = 0;
  std::int64_t chunks = 0;     ///< version 3
  std::string algbw, optimum;  ///< the exact texts
  std::optional<Name> root;
  std::vector<Name> ranks;
  std::vector<std::int64_t> weights;
  std::array<std::optional<std::vector<DocumentTree>>, 3> lists;
  std::array<std::vector<DocumentGenerator>, 3> symmetry;  ///< of each list
  std::vector<std::uint32_t> edge_begin = {0};  ///< path e is path_nodes[edge_begin[e], [e + 1])
  std::vector<Name> path_nodes;
  std::vector<std::string> names;
};

/// Reads the text as a stream. Keys that it does not know are passed over. Error F01: no JSON, or
/// a value of the wrong type, or more than memory is meant for.
[[nodiscard]] Expected<ForestDocument> read_forest_document(std::string_view text,
                                                            std::string_view file);

}  // namespace forestcoll::forest
