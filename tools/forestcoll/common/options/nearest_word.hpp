// "Did you mean …?" of commands and options.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace forestcoll::cli {

/// Returns the candidate with the fewest inserted, deleted and replaced characters, the first of
/// equals; empty where none is near enough to be meant: a third of the word, at least one. Else the
/// first that has it as a whole part between hyphens.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       std::span<const std::string> candidates);

}  // namespace forestcoll::cli
