// Words and numbers of texts about groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forestcoll::topology {

/// Without blanks at both ends.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

/// The parts between separators, without blanks at their ends; one where there is no separator.
[[nodiscard]] std::vector<std::string_view> parts_between(std::string_view text, char separator);

/// Decimal, "0x…" or "0b…", the whole text; nothing where it is none, or 2^63 and more.
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);

[[nodiscard]] std::string in_upper_case(std::string_view text);

}  // namespace forestcoll::topology
