// Is a file's content text in UTF-8 at all, and where in it is a byte?
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "topology/findings.hpp"

namespace forestcoll::topology {

/// False, and an E01 in words, where the text is empty, begins with a byte-order mark, or is binary
/// or otherwise not UTF-8. Cost: O(text).
[[nodiscard]] bool check_encoding(std::string_view text, Findings& findings);

/// "12:7": the line and the byte column, both from 1, of the byte at `offset`.
[[nodiscard]] std::string line_and_column(std::string_view text, std::size_t offset);

/// A few characters before and after the byte at `offset`, from its line.
[[nodiscard]] std::string_view excerpt_around(std::string_view text, std::size_t offset);

/// At most about `length` bytes from the beginning, whole characters.
[[nodiscard]] std::string_view first_bytes(std::string_view text, std::size_t length);

}  // namespace forestcoll::topology
