// Is a file's content text in UTF-8 at all, and where in it is a byte?
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "topology/model/findings.hpp"

namespace forestcoll::topology {

/// False, and an E01 in words, where the text is empty, begins with a byte-order mark, or is binary
/// or otherwise not UTF-8. Cost: O(text).
[[nodiscard]] bool check_encoding(std::string_view text, Findings& findings);

/// Behind a byte-order mark of UTF-8, which tools of Windows write into what others make.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// "12:7": the line and the byte column, both from 1, of the byte at `offset`.
[[nodiscard]] std::string line_and_column(std::string_view text, std::size_t offset);

/// A few characters before and after the byte at `offset`, from its line.
[[nodiscard]] std::string_view excerpt_around(std::string_view text, std::size_t offset);

/// At most about `length` bytes from the beginning, whole characters.
[[nodiscard]] std::string_view first_bytes(std::string_view text, std::size_t length);

/// "U+001B": the first control character (of C0 and C1, DEL) or non-character of a text in UTF-8,
/// but those in `allowed`; nothing where there is none. They would steer terminals, and no XML can
/// hold most of them.
[[nodiscard]] std::optional<std::string> find_control(std::string_view text,
                                                      std::string_view allowed = {});
/// What a description may have: it is prose of several lines.
inline constexpr std::string_view kLayoutOfProse = "\n\t";

/// The text on one line: a blank for every run of what `find_control` finds.
[[nodiscard]] std::string without_controls(std::string_view text, std::string_view allowed = {});

}  // namespace forestcoll::topology
