// Numbers that are joined fall into groups.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace forestcoll::topology {

/// Union and find over 0 … size − 1. Cost: O(log size) for each call.
class Groups {
 public:
  explicit Groups(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  /// The one number that stands for the whole group.
  [[nodiscard]] std::size_t find(std::size_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace forestcoll::topology
