// Numbers for what is told apart.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace forestcoll::solver {

/// Equal keys have equal numbers, in the order in which keys come first. Cost: O(items · log) keys
/// compared.
template <class KeyOf>
std::vector<std::size_t> numbered(std::size_t items, const KeyOf& key_of) {
  std::map<std::vector<std::size_t>, std::size_t> known;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < items; ++i) {
    numbers.push_back(known.emplace(key_of(i), known.size()).first->second);
  }
  return numbers;
}

}  // namespace forestcoll::solver
