// What a topology file says beside the fabric.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forestcoll {

/// What no solver reads of a topology file: notes, as JSON, every number as it is written.
struct Metadata {
  std::string metadata;                                    ///< the value of `metadata`; empty: none
  std::vector<std::string> templates = {};                 ///< the names of `templates`
  std::vector<std::pair<std::string, std::string>> notes;  ///< the top level's keys x-…, and values
  std::vector<std::string>
      inner_notes;  ///< JSON pointers of the keys x-… of nodes, links and so on
};

/// The notes of a topology file, in its order. A `metadata` object has a line per key, indented as
/// in the file's top level. Empty where the text is not JSON. Cost: O(text).
[[nodiscard]] Metadata metadata_of(std::string_view topology_file);

}  // namespace forestcoll
