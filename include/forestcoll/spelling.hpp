// Names as people write them.
#pragma once

#include <optional>
#include <string_view>

#include "forestcoll/collective.hpp"

namespace forestcoll {

/// A collective however people spell it: "AllReduce", "all-gather", "all2all", "bcast".
[[nodiscard]] std::optional<Collective> parse_spelling(std::string_view spelling);

}  // namespace forestcoll
