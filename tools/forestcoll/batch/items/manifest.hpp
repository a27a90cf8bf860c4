// The topologies of a batch: found, or listed in a manifest with options of their own.
#pragma once

#include <string>
#include <vector>

#include "batch/items/words.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli::batch {

/// What is to be made of one topology.
struct Assignment {
  std::string input;                     ///< relative to the directory of topologies
  std::vector<std::string> collectives;  ///< empty: the default
  std::vector<std::string> targets;      ///< empty: the default
  std::vector<std::string> trees;        ///< of -k; empty: by format, or those of --algorithm
  Words words;                           ///< the other options of `synth`

  /// Those to make; none where operations name theirs.
  [[nodiscard]] std::vector<std::string> asked_collectives() const;
};

/// What stands in the place of a collective where operations name theirs.
inline constexpr const char* kJobOfOperations = "job";

/// Reads {"format": "forestcoll-batch-manifest", "version": 1, "topologies": [{"path", "options",
/// "collectives", "targets", "k"}]}; what an entry leaves out is as in `standard`. Errors (J06):
/// not such a file, with the place.
[[nodiscard]] Expected<std::vector<Assignment>> parse_manifest(const std::string& text,
                                                               const std::string& file,
                                                               const Assignment& standard);

}  // namespace forestcoll::cli::batch
