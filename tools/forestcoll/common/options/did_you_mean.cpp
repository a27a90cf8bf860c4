#include "common/options/did_you_mean.hpp"

#include <fmt/format.h>

#include "forestcoll/nearest.hpp"

namespace forestcoll::cli {

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string meant = nearest_word(word, candidates);
  return meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant);
}

}  // namespace forestcoll::cli
