// The rows of a CSV file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forestcoll::importing {

struct CsvRow {
  std::vector<std::string> fields;  ///< without the blanks around them
  std::size_t offset = 0;
};

/// Fields between commas, in quotation marks or not; empty lines and lines that begin with # are
/// no rows. Nothing where a quotation mark is not closed. Cost: O(text).
[[nodiscard]] std::optional<std::vector<CsvRow>> csv_rows(std::string_view text);

}  // namespace forestcoll::importing
