// Graphviz strings.
#pragma once

#include <string>
#include <string_view>

namespace forestcoll::topology {

/// A quoted string of the DOT language. Graphviz knows one escape, of the quotation mark; a
/// backslash at the end would escape the closing one, and is doubled there.
[[nodiscard]] inline std::string quote_dot(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '\\';
    quoted += c;
  }
  if (text.ends_with('\\')) quoted += '\\';
  return quoted + "\"";
}

}  // namespace forestcoll::topology
