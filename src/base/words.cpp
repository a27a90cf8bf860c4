#include "base/words.hpp"

#include <algorithm>

namespace forestcoll {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

std::optional<std::int64_t> natural_to_base(std::string_view text, int base) {
  const auto value = number_in<std::int64_t>(text, base);
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
    lines.push_back({.text = text.substr(at, end - at), .offset = at});
    at = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> parts_between(std::string_view text, char separator) {
  auto parts = split(text, separator);
  for (std::string_view& part : parts) part = trimmed(part);
  return parts;
}

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    items.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return items;
}

std::optional<std::int64_t> natural(std::string_view text) {
  return natural_to_base(text, 10);
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  const std::string prefix = lower_case(text.substr(0, 2));
  const int base = prefix == "0x" ? 16 : prefix == "0b" ? 2 : 10;
  return natural_to_base(text.substr(base == 10 ? 0 : 2), base);
}

}  // namespace forestcoll
