// Lists of things, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace forestcoll::audit {

template <class T = std::int32_t>
class Lists {
 public:
  Lists() = default;
  /// `for_each(add)` calls add(list, entry) for all that shall be in them, twice alike.
  template <class ForEach>
  Lists(std::size_t lists, ForEach&& for_each) : begin_(lists + 1, 0) {
    for_each([&](std::size_t list, const T&) { ++begin_[list + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    entries_.resize(begin_.back());
    std::vector<std::uint32_t> next = begin_;
    for_each([&](std::size_t list, const T& entry) { entries_[next[list]++] = entry; });
  }

  [[nodiscard]] std::span<const T> operator[](std::size_t list) const {
    return between(list, list);
  }
  /// All that is in the lists from `first` to `last`.
  [[nodiscard]] std::span<const T> between(std::size_t first, std::size_t last) const {
    return {entries_.data() + begin_[first], entries_.data() + begin_[last + 1]};
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<T> entries_;
};

}  // namespace forestcoll::audit
