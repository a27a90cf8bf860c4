// Numbers that are joined, more and more, fall into groups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace forestcoll::graph {

/// Union and find over 0 … items − 1. Cost: O(log items) for each call, spread over all of them.
class JoinedItems {
 public:
  explicit JoinedItems(std::size_t items) : above_(items) {
    std::iota(above_.begin(), above_.end(), std::size_t{0});
  }

  /// False where they were joined already.
  bool join(std::size_t a, std::size_t b) {
    a = first(a);
    b = first(b);
    above_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

  /// Of all that `item` is joined with.
  [[nodiscard]] std::size_t first(std::size_t item) {
    while (above_[item] != item) item = above_[item] = above_[above_[item]];
    return item;
  }

 private:
  std::vector<std::size_t> above_;
};

}  // namespace forestcoll::graph
