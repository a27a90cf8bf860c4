// "Did you mean …?" of commands and options.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace forestcoll::cli {

/// Returns the nearest candidate (`NearestText`), or else the first that has the word as a whole
/// part between hyphens; empty where none is meant.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       std::span<const std::string> candidates);

/// "; did you mean "azure"?" for the end of a message; empty where none is meant.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string> candidates);

}  // namespace forestcoll::cli
