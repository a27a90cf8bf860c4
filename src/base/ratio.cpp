#include "forestcoll/ratio.hpp"

#include <limits>
#include <numeric>

#include "base/check.hpp"
#include "base/gcd.hpp"

namespace forestcoll {
namespace {

constexpr Int128 kMax = std::numeric_limits<std::int64_t>::max();

Int128 magnitude(Int128 v) {
  return v < 0 ? -v : v;
}

Ratio require(const std::optional<Ratio>& result) {
  FORESTCOLL_CHECK(result.has_value(), "exact arithmetic overflowed");
  return *result;
}

// Multiplies by 10 and adds a digit; false where the result would not fit 64 bits.
bool append_digit(Int128& value, char digit) {
  value = value * 10 + (digit - '0');
  return value <= kMax;
}

}  // namespace

Int128 gcd(Int128 a, Int128 b) {
  a = magnitude(a);
  b = magnitude(b);
  while (b != 0) {
    if (a <= kMax && b <= kMax) {
      return std::gcd(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
    }
    const Int128 r = a % b;
    a = b;
    b = r;
  }
  return a;
}

Ratio::Ratio(std::int64_t num, std::int64_t den) {
  *this = require(reduced(num, den));
}

double Ratio::to_double() const {
  return static_cast<double>(num_) / static_cast<double>(den_);
}

std::string Ratio::to_string() const {
  std::string text = std::to_string(num_);
  if (den_ != 1) text += "/" + std::to_string(den_);
  return text;
}

std::optional<Ratio> Ratio::reduced(Int128 num, Int128 den) {
  if (den == 0) return std::nullopt;
  if (den < 0) {
    num = -num;
    den = -den;
  }
  const Int128 g = gcd(num, den);
  num /= g;
  den /= g;
  if (magnitude(num) > kMax || den > kMax) return std::nullopt;
  Ratio result;
  result.num_ = static_cast<std::int64_t>(num);
  result.den_ = static_cast<std::int64_t>(den);
  return result;
}

std::strong_ordering operator<=>(const Ratio& a, const Ratio& b) {
  const Int128 left = Int128{a.num_} * b.den_;
  const Int128 right = Int128{b.num_} * a.den_;
  return left < right   ? std::strong_ordering::less
         : left > right ? std::strong_ordering::greater
                        : std::strong_ordering::equal;
}

std::optional<Ratio> checked_add(const Ratio& a, const Ratio& b) {
  // Two products below 2^126 each: their sum fits.
  return Ratio::reduced(Int128{a.num()} * b.den() + Int128{b.num()} * a.den(),
                        Int128{a.den()} * b.den());
}

std::optional<Ratio> checked_mul(const Ratio& a, const Ratio& b) {
  return Ratio::reduced(Int128{a.num()} * b.num(), Int128{a.den()} * b.den());
}

std::optional<Ratio> checked_div(const Ratio& a, const Ratio& b) {
  return Ratio::reduced(Int128{a.num()} * b.den(), Int128{a.den()} * b.num());
}

Ratio operator+(const Ratio& a, const Ratio& b) {
  return require(checked_add(a, b));
}
Ratio operator-(const Ratio& a, const Ratio& b) {
  return require(checked_add(a, Ratio(-b.num(), b.den())));
}
Ratio operator*(const Ratio& a, const Ratio& b) {
  return require(checked_mul(a, b));
}
Ratio operator/(const Ratio& a, const Ratio& b) {
  return require(checked_div(a, b));
}

namespace {

// A decimal number, JSON's grammar with leading zeros and a leading '+' allowed in the exponent.
std::optional<Ratio> parse_decimal(const std::string& text) {
  std::size_t at = 0;
  const bool negative = at < text.size() && text[at] == '-';
  if (negative) ++at;
  Int128 mantissa = 0;
  std::int64_t exponent = 0;
  std::size_t digits = 0;
  const auto take_digits = [&](std::int64_t exponent_step) {
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits) {
      if (!append_digit(mantissa, text[at])) return false;
      exponent += exponent_step;
    }
    return true;
  };
  if (!take_digits(0)) return std::nullopt;
  if (digits == 0) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    ++at;
    const std::size_t before = digits;
    if (!take_digits(-1) || digits == before) return std::nullopt;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    const bool minus = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (at == text.size()) return std::nullopt;
    std::int64_t value = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      value = value * 10 + (text[at] - '0');
      if (value > 100'000) return std::nullopt;
    }
    exponent += minus ? -value : value;
  }
  if (at != text.size()) return std::nullopt;
  if (negative) mantissa = -mantissa;
  if (mantissa == 0) return Ratio(0);
  Int128 den = 1;
  for (; exponent > 0; --exponent) {
    mantissa *= 10;
    if (magnitude(mantissa) > kMax) return std::nullopt;
  }
  for (; exponent < 0; ++exponent) {
    if (mantissa % 10 == 0) {
      mantissa /= 10;
    } else if (den > kMax / 10) {
      return std::nullopt;
    } else {
      den *= 10;
    }
  }
  return Ratio::reduced(mantissa, den);
}

}  // namespace

std::optional<Ratio> parse_ratio(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return parse_decimal(text);
  const auto num = parse_decimal(text.substr(0, slash));
  const auto den = parse_decimal(text.substr(slash + 1));
  if (!num || !den) return std::nullopt;
  return checked_div(*num, *den);
}

}  // namespace forestcoll
