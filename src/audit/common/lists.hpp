// Lists of numbers, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace forestcoll::audit {

class Lists {
 public:
  Lists() = default;
  /// `for_each(add)` calls add(list, number) for all that shall be in them, twice alike.
  template <class ForEach>
  Lists(std::size_t lists, ForEach&& for_each) : begin_(lists + 1, 0) {
    for_each([&](std::size_t list, std::int32_t) { ++begin_[list + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    numbers_.resize(begin_.back());
    std::vector<std::uint32_t> next = begin_;
    for_each([&](std::size_t list, std::int32_t number) { numbers_[next[list]++] = number; });
  }

  [[nodiscard]] std::span<const std::int32_t> operator[](std::size_t list) const {
    return between(list, list);
  }
  /// All that is in the lists from `first` to `last`.
  [[nodiscard]] std::span<const std::int32_t> between(std::size_t first, std::size_t last) const {
    return {numbers_.data() + begin_[first], numbers_.data() + begin_[last + 1]};
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<std::int32_t> numbers_;
};

}  // namespace forestcoll::audit
