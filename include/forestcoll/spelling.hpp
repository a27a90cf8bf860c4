// Names as people write them.
#pragma once

#include <optional>
#include <string_view>

#include "forestcoll/collective.hpp"

namespace forestcoll {

/// A collective however people spell it: "AllReduce", "all-gather", "a2a", "bcast".
[[nodiscard]] std::optional<Collective> parse_spelling(std::string_view spelling);

}  // namespace forestcoll
