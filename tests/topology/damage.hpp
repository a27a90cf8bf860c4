// Ways in which files are damaged.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <string>

namespace forestcoll::testing {

using Random = std::mt19937;

inline std::size_t below(Random& random, std::size_t bound) {
  return random() % bound;
}

/// One of the ways, at some place. `pieces` are what may be put there.
inline void damage(std::string& text, std::span<const std::string> pieces, Random& random) {
  if (text.empty()) return;
  const std::size_t at = below(random, text.size());
  switch (below(random, 6)) {
    case 0:
      text[at] = static_cast<char>(random() % 256);
      break;
    case 1:
      text.resize(at);
      break;
    case 2:
      text.erase(at, 1 + below(random, 30));
      break;
    case 3:
      text.insert(at, pieces[below(random, pieces.size())]);
      break;
    case 4: {
      const std::string copied = text.substr(at, 1 + below(random, 100));
      text.insert(below(random, text.size()), copied);
      break;
    }
    default: {
      // A digit is the likeliest to give a valid file with other content.
      const std::size_t digit = text.find_first_of("0123456789", at);
      if (digit != std::string::npos) text[digit] = static_cast<char>('0' + random() % 10);
      break;
    }
  }
}

}  // namespace forestcoll::testing
