// Items that permutations join, more and more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {

class JoinedItems {
 public:
  explicit JoinedItems(std::size_t items) : above_(items) {
    std::iota(above_.begin(), above_.end(), std::size_t{0});
  }

  void join(std::size_t a, std::size_t b) {
    a = first(a);
    b = first(b);
    above_[std::max(a, b)] = std::min(a, b);
  }

  /// Of all that `item` is joined with.
  [[nodiscard]] std::size_t first(std::size_t item) {
    while (above_[item] != item) item = above_[item] = above_[above_[item]];
    return item;
  }

  /// Classes are numbered by their first items.
  [[nodiscard]] Partition partition() {
    Partition classes{std::vector<std::size_t>(above_.size())};
    for (std::size_t i = 0; i < above_.size(); ++i) {
      const std::size_t least = first(i);
      classes.of[i] = least == i ? classes.count++ : classes.of[least];
    }
    return classes;
  }

 private:
  std::vector<std::size_t> above_;
};

}  // namespace forestcoll::solver
