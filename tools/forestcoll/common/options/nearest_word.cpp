#include "common/options/nearest_word.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace forestcoll::cli {
namespace {

constexpr std::size_t kLeastPart = 4;  // characters

std::size_t word_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(a.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (const char c : b) {
    std::size_t diagonal = row[0]++;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      const std::size_t replaced = diagonal + (a[i - 1] == c ? 0 : 1);
      diagonal = row[i];
      row[i] = std::min({replaced, row[i] + 1, row[i - 1] + 1});
    }
  }
  return row[a.size()];
}

// "double-tree", where "tree" is meant.
bool has_part(std::string_view candidate, std::string_view word) {
  const std::size_t at = candidate.find(word);
  if (word.size() < kLeastPart || at == std::string_view::npos) return false;
  const std::size_t end = at + word.size();
  return (at == 0 || candidate[at - 1] == '-') &&
         (end == candidate.size() || candidate[end] == '-');
}

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kPart = 3;
  std::size_t limit = (word.size() + 1) / kPart;
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = word_distance(word, candidate);
    if (best.empty() ? distance > limit : distance >= limit) continue;
    best = candidate;
    limit = distance;
  }
  if (!best.empty()) return best;
  const auto with_it = std::ranges::find_if(
      candidates, [&](const std::string& candidate) { return has_part(candidate, word); });
  return with_it == candidates.end() ? best : *with_it;
}

}  // namespace forestcoll::cli
