// "Did you mean …?" of values of options.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace forestcoll::cli {

/// "; did you mean "azure"?" for the end of a message; empty where none is meant.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string> candidates);

}  // namespace forestcoll::cli
