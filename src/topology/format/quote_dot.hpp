// Graphviz strings.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace forestcoll::topology {

/// True where a quoted string of the DOT language can hold exactly this text. Graphviz knows one
/// escape, of the quotation mark, joins lines at a backslash, and reads two backslashes as two: an
/// odd number of them before a quotation mark, a new line or the end cannot be said.
[[nodiscard]] inline bool is_sayable_in_dot(std::string_view text) {
  std::size_t backslashes = 0;
  for (const char c : text) {
    if ((c == '"' || c == '\n') && backslashes % 2 == 1) return false;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return backslashes % 2 == 0;
}

/// A quoted string of the DOT language; where it cannot hold the text, with a backslash more.
[[nodiscard]] inline std::string quote_dot(std::string_view text) {
  std::string quoted = "\"";
  std::size_t backslashes = 0;
  for (const char c : text) {
    if ((c == '"' || c == '\n') && backslashes % 2 == 1) quoted += '\\';
    if (c == '"') quoted += '\\';
    quoted += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  if (backslashes % 2 == 1) quoted += '\\';
  return quoted + "\"";
}

/// The same for a label that shows exactly these lines. Labels have escapes of their own, so a
/// backslash is written as two; control characters, which no picture shows, become '?'.
[[nodiscard]] inline std::string quote_dot_label(std::span<const std::string> lines) {
  std::string label;
  for (const std::string& line : lines) {
    if (&line != &lines.front()) label += "\\n";
    for (const char c : line) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '\\') label += '\\';
      label += byte < 0x20 || byte == 0x7f ? '?' : c;
    }
  }
  return quote_dot(label);
}
[[nodiscard]] inline std::string quote_dot_label(const std::string& line) {
  return quote_dot_label(std::span(&line, 1));
}

}  // namespace forestcoll::topology
