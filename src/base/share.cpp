// Shares of a whole, rounded once.

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "forestcoll/ratio.hpp"

namespace forestcoll {
namespace {

constexpr std::int64_t kHundredthsInOne = 10'000;

// num / den of two ratios' quotient; below 2^126 each.
struct Quotient {
  Int128 num = 0;
  Int128 den = 1;
};

Quotient quotient(const Ratio& part, const Ratio& whole) {
  return {Int128{part.num()} * whole.den(), Int128{part.den()} * whole.num()};
}

// floor(q · factor), digit by binary digit: the product itself may not fit 128 bits.
Int128 floor_times(const Quotient& q, std::uint32_t factor) {
  const Int128 whole = q.num / q.den, rest = q.num % q.den;
  Int128 result = 0, left = 0;
  for (int bit = static_cast<int>(std::bit_width(factor)) - 1; bit >= 0; --bit) {
    left *= 2;
    result = result * 2 + left / q.den;
    left %= q.den;
    if (((factor >> static_cast<unsigned>(bit)) & 1U) != 0) left += rest;
    result += left / q.den;
    left %= q.den;
  }
  return whole * factor + result;
}

// Two bits more than a double has, the last of them set where anything is left: rounded once.
double nearest_double(const Quotient& q) {
  if (q.num == 0) return 0;
  constexpr Int128 kEnough = Int128{1} << 54;
  Int128 digits = q.num / q.den, left = q.num % q.den;
  bool inexact = false;
  int exponent = 0;
  for (; digits < kEnough; --exponent) {
    left *= 2;
    digits = digits * 2 + left / q.den;
    left %= q.den;
  }
  for (; digits >= 2 * kEnough; ++exponent) {
    inexact = inexact || digits % 2 != 0;
    digits /= 2;
  }
  if (inexact || left != 0) digits |= 1;
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(digits)), exponent);
}

std::string hundredths_in_words(Int128 hundredths) {
  std::string text = fmt::format("{:.2f}", static_cast<double>(hundredths) / 100);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " %";
}

}  // namespace

double share(const Ratio& part, const Ratio& whole) {
  const double nearest = nearest_double(quotient(part, whole));
  if (nearest != 1 || part == whole) return nearest;
  return std::nextafter(1.0, part < whole ? 0.0 : 2.0);
}

double share_lost(const Ratio& part, const Ratio& whole) {
  const Quotient q = quotient(part, whole);
  return nearest_double({q.den - q.num, q.den});
}

std::string percent(const Ratio& part, const Ratio& whole) {
  const Int128 hundredths = floor_times(quotient(part, whole), kHundredthsInOne);
  const bool hides_more = hundredths == kHundredthsInOne && part != whole;
  return hundredths_in_words(hides_more ? hundredths + 1 : hundredths);
}

std::string percent(double written) {
  // The product may be rounded up to the next hundredth, the quotient never is.
  double hundredths = std::round(written * kHundredthsInOne);
  if (hundredths / kHundredthsInOne > written) --hundredths;
  if (hundredths == kHundredthsInOne && written > 1) ++hundredths;
  return hundredths_in_words(static_cast<Int128>(hundredths));
}

}  // namespace forestcoll
