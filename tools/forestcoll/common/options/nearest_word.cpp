#include "common/options/nearest_word.hpp"

#include <algorithm>
#include <cstddef>

#include "forestcoll/nearest.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kLeastPart = 4;  // characters

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
  NearestText nearest(word);
  for (const std::string& candidate : candidates) nearest.offer(candidate);
  if (!nearest.best().empty()) return std::string(nearest.best());
  const auto with_it = std::ranges::find_if(
      candidates, [&](const std::string& candidate) { return has_part(candidate, word); });
  return with_it == candidates.end() ? "" : *with_it;
}

}  // namespace forestcoll::cli
