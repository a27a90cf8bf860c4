// The version of forestcoll.
#pragma once

#include <string_view>

namespace forestcoll {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace forestcoll
