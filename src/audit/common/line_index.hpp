// From an offset in a text to its line and column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace forestcoll::audit {

/// Lines and columns count from 1; columns count bytes.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text) {
    begin_.push_back(0);
    for (std::size_t at = text.find('\n'); at != std::string_view::npos;
         at = text.find('\n', at + 1)) {
      begin_.push_back(at + 1);
    }
  }
  [[nodiscard]] std::size_t line(std::size_t offset) const {
    return static_cast<std::size_t>(std::upper_bound(begin_.begin(), begin_.end(), offset) -
                                    begin_.begin());
  }
  /// The same, found at once where it is line `near` or the next.
  [[nodiscard]] std::size_t line(std::size_t offset, std::size_t near) const {
    for (const std::size_t row : {near, near + 1}) {
      const bool is_in = row > 0 && row <= begin_.size() && begin_[row - 1] <= offset &&
                         (row == begin_.size() || offset < begin_[row]);
      if (is_in) return row;
    }
    return line(offset);
  }
  /// "12:5"
  [[nodiscard]] std::string position(std::size_t offset) const {
    const std::size_t row = line(offset);
    return std::to_string(row) + ":" + std::to_string(offset - begin_[row - 1] + 1);
  }

 private:
  std::vector<std::size_t> begin_;
};

}  // namespace forestcoll::audit
