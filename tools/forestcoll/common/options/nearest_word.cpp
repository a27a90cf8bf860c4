#include "common/options/nearest_word.hpp"

#include "forestcoll/nearest.hpp"

namespace forestcoll::cli {

std::string nearest_word(std::string_view word, std::span<const std::string> candidates) {
  NearestText nearest(word);
  for (const std::string& candidate : candidates) nearest.offer(candidate);
  return std::string(nearest.best());
}

}  // namespace forestcoll::cli
