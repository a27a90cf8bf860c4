// What a topology file says beside the fabric.
#pragma once

#include <string>
#include <string_view>

namespace forestcoll {

/// The `metadata` of a topology file as JSON, every number as it is written: an object has a line
/// per key, indented as in the file's top level. Empty where there is none, or the text is not
/// JSON. Cost: O(text).
[[nodiscard]] std::string metadata_of(std::string_view topology_file);

}  // namespace forestcoll
