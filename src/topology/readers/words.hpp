// Text files in lines and words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forestcoll::importing {

struct Line {
  std::string_view text;  ///< without its end
  std::size_t offset = 0;
};
/// Lines end with \n, \r\n or \r.
[[nodiscard]] std::vector<Line> lines_of(std::string_view text);

/// What stands between blanks and tabs.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);

[[nodiscard]] std::string_view trimmed(std::string_view text);

/// A non-negative decimal integer, all of the text.
[[nodiscard]] std::optional<std::int64_t> natural(std::string_view text);

}  // namespace forestcoll::importing
