// Forest JSON as its file says: read, bounded, and not yet judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/common/findings.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::audit {

/// A node of the file, by the order in which names first appear.
using Name = std::int32_t;

struct ForestEdge {
  Name src = -1, dst = -1;
  std::uint32_t path_begin = 0, path_end = 0;  ///< in ForestFile::path_nodes
};

struct ForestTree {
  Name root = -1;
  std::int64_t multiplicity = 0;
  std::int64_t height = -1;
  std::size_t edges_begin = 0, edges_end = 0;  ///< in ForestFile::edges
  bool images = false;  ///< stands for its images under the list's symmetry too
};

/// A permutation of nodes by its cycles, and the order that the file gives it.
struct Generator {
  std::int64_t order = 0;
  std::vector<std::vector<Name>> cycles;
};

/// One of the lists "trees", "reduce" and "broadcast".
struct TreeList {
  bool present = false;
  std::vector<ForestTree> trees;
  std::vector<Generator> symmetry;
};

struct ForestFile {
  std::string format;
  std::int64_t version = 0;
  std::string collective;
  std::int64_t k = 0;
  std::int64_t chunks = 0;                    ///< version 3; 0: the file names none
  std::optional<std::string> algbw, optimum;  ///< the exact texts
  std::optional<Name> root;                   ///< of a broadcast or reduce, where it is named
  std::vector<Name> ranks;
  std::vector<std::int64_t> weights;  ///< by rank; empty: the file names none
  bool has_weights = false;
  TreeList trees, reduce, broadcast;
  std::vector<ForestEdge> edges;
  std::vector<Name> path_nodes;
  std::vector<std::string> names;
};

/// Reads the file as a stream, holding some 16 bytes per edge. Fields of the wrong type are
/// findings; unknown fields are passed over. Errors: not JSON (with line:column), or too large.
[[nodiscard]] Expected<ForestFile> read_forest_json(std::string_view text, std::string_view file,
                                                    Findings& findings);

}  // namespace forestcoll::audit
