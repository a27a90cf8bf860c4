// A number that looks random, for telling sets and structures apart by sums of their members'.
#pragma once

#include <cstdint>

namespace forestcoll::base {

/// The output function of SplitMix64 (Steele, Lea, Flood 2014), a bijection.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace forestcoll::base
