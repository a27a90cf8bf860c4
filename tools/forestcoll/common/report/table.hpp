// Tables of text, in the forms that reports have them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace forestcoll::cli {

using TableRow = std::vector<std::string>;

struct Table {
  TableRow head;
  std::vector<TableRow> rows = {};
};

/// Columns as wide as their widest cell, two spaces apart: the first `left` and the last
/// `left_at_end` to the left, the others, which are figures, to the right. Every line is ended, and
/// has no spaces at its end.
[[nodiscard]] std::string aligned(const Table& table, std::size_t left, std::size_t left_at_end);

/// The same, line by line.
[[nodiscard]] std::vector<std::string> lines_of(const Table& table, std::size_t left,
                                                std::size_t left_at_end);

/// RFC 4180: cells with commas, quotation marks or ends of lines are quoted. `end` ends every line.
[[nodiscard]] std::string to_csv(const Table& table, std::string_view end);

}  // namespace forestcoll::cli
