// Floating-point numbers of 16 bits, which the compilers that we build with do not all have.
#pragma once

#include <bit>
#include <cstdint>

namespace forestcoll::run {

/// The upper half of a float.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) {
    const auto whole = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (whole & 0x7fffffffU) > 0x7f800000U;
    const std::uint32_t to_even = 0x7fffU + (whole >> 16 & 1U);
    bits = static_cast<std::uint16_t>(is_nan ? whole >> 16 | 0x40U : (whole + to_even) >> 16);
  }
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) {
    constexpr std::uint32_t kInfinity = 0x7f800000U;     // of a float
    constexpr std::uint32_t kTooLarge = 0x47800000U;     // 2^16
    constexpr std::uint32_t kLeastNormal = 0x38800000U;  // 2^-14
    const auto whole = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = whole >> 16 & 0x8000U;
    const std::uint32_t magnitude = whole & 0x7fffffffU;
    std::uint32_t rounded = 0;
    if (magnitude > kInfinity) {
      rounded = 0x7e00U;
    } else if (magnitude >= kTooLarge) {
      rounded = 0x7c00U;
    } else if (magnitude < kLeastNormal) {
      // Adding 1/2 leaves multiples of 2^-24, those of the subnormal numbers, in the fraction.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      rounded = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F);
    } else {
      const std::uint32_t to_even = 0xfffU + (magnitude >> 13 & 1U);
      rounded = (magnitude - (112U << 23) + to_even) >> 13;
    }
    bits = static_cast<std::uint16_t>(sign | rounded);
  }
  explicit operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t exponent = bits >> 10 & 0x1fU;
    const std::uint32_t fraction = bits & 0x3ffU;
    if (exponent == 0) {
      const float value = static_cast<float>(fraction) * 0x1p-24F;
      return sign != 0 ? -value : value;
    }
    const std::uint32_t biased = exponent == 0x1fU ? 0xffU : exponent + 112U;
    return std::bit_cast<float>(sign | biased << 23 | fraction << 13);
  }
};

}  // namespace forestcoll::run
