// The words for the type of a node.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "forestcoll/topology.hpp"

namespace forestcoll::topology {

/// The type that a file means by a word: the format's own, "gpu", which is "compute", or "nic",
/// which is "switch"; nothing for any other.
[[nodiscard]] std::optional<NodeType> node_type_called(std::string_view word);

/// What to write in place of another word: "switch" for "leaf"; empty where nothing is known of it.
[[nodiscard]] std::string remedy_of_type(std::string_view word);

}  // namespace forestcoll::topology
