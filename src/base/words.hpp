// Text of files in lines, words and numbers, whatever the locale.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace forestcoll {

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// Letters of ASCII; other bytes stay.
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string upper_case(std::string_view text);

struct TextLine {
  std::string_view text;  ///< without its end
  std::size_t offset = 0;
};
/// Lines end with \n, \r\n or \r.
[[nodiscard]] std::vector<TextLine> lines_of(std::string_view text);

/// What stands between blanks and tabs.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);

/// Without blanks at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// "a, b, c": what `text` makes of each item.
template <class Items, class Text = std::identity>
[[nodiscard]] std::string listed(const Items& items, const Text& text = {}) {
  std::string list;
  for (const auto& item : items) {
    if (!list.empty()) list += ", ";
    list += std::invoke(text, item);
  }
  return list;
}

/// The parts between separators; one where there is no separator.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The parts between separators, without blanks at their ends.
[[nodiscard]] std::vector<std::string_view> parts_between(std::string_view text, char separator);

/// The items of a list: commas between brackets belong to a range.
[[nodiscard]] std::vector<std::string_view> split_list(std::string_view list);

/// The number that is the whole text; nothing where it is none, or does not fit. `base`: of an
/// integer, where not 10.
template <class Number, class... Base>
[[nodiscard]] std::optional<Number> number_in(std::string_view text, Base... base) {
  Number value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, base...);
  return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

/// A non-negative decimal integer, all of the text.
[[nodiscard]] std::optional<std::int64_t> natural(std::string_view text);

/// The same in decimal, "0x…" or "0b…".
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);

}  // namespace forestcoll
