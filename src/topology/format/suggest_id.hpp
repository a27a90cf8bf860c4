// "Did you mean …?" of ids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forestcoll::topology {

/// The remedy for an id that none of `ids` is: those that differ in their number alone, as
/// "gpu[0-3]" for "gpu4", or else the nearest; empty where none is near.
[[nodiscard]] std::string suggest_id(std::string_view wanted,
                                     const std::vector<std::string_view>& ids);

}  // namespace forestcoll::topology
