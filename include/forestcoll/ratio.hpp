// Exact rational numbers: every bandwidth, rate and size from a file's text to the report; and the
// shares that one is of another.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace forestcoll {

/// 128 bits hold the product of any two 64-bit integers.
__extension__ using Int128 = __int128;

/// An exact rational number: numerator and denominator in lowest terms, 64 bits each, denominator
/// positive. Comparison is exact for all values.
///
/// `+ − × ÷` stop the program if the exact result does not fit (and on division by zero): use them
/// where the operands are already known to be bounded, as everything is that has passed
/// `to_digraph`. The `checked_…` functions are for input that is not: they return nothing instead.
class Ratio {
 public:
  constexpr Ratio() = default;
  constexpr Ratio(std::int64_t integer) : num_(integer) {}  // NOLINT: integers are rationals
  /// `num / den` in lowest terms; `den` must not be 0.
  Ratio(std::int64_t num, std::int64_t den);

  [[nodiscard]] constexpr std::int64_t num() const { return num_; }
  [[nodiscard]] constexpr std::int64_t den() const { return den_; }
  [[nodiscard]] double to_double() const;
  /// "65/3", or "13" where the denominator is 1.
  [[nodiscard]] std::string to_string() const;

  /// num / den reduced, or nothing where that does not fit 64 bits or den is 0.
  [[nodiscard]] static std::optional<Ratio> reduced(Int128 num, Int128 den);

  friend std::strong_ordering operator<=>(const Ratio& a, const Ratio& b);
  friend bool operator==(const Ratio& a, const Ratio& b) = default;
  friend Ratio operator+(const Ratio& a, const Ratio& b);
  friend Ratio operator-(const Ratio& a, const Ratio& b);
  friend Ratio operator*(const Ratio& a, const Ratio& b);
  friend Ratio operator/(const Ratio& a, const Ratio& b);

 private:
  std::int64_t num_ = 0;
  std::int64_t den_ = 1;
};

[[nodiscard]] std::optional<Ratio> checked_add(const Ratio& a, const Ratio& b);
[[nodiscard]] std::optional<Ratio> checked_mul(const Ratio& a, const Ratio& b);
[[nodiscard]] std::optional<Ratio> checked_div(const Ratio& a, const Ratio& b);

/// Reads an exact number: "25", "-3", "370.8", "1.5e3", "1000/3". Nothing where the text is not
/// such a number or its exact value does not fit; never rounds.
[[nodiscard]] std::optional<Ratio> parse_ratio(const std::string& text);

// Shares of a whole, such as the optimum, from exact rates: one number and one text for everybody.

/// The double nearest to `part / whole`, but 1 only where the two are equal. REQUIRES: `part` is
/// not negative, `whole` is positive, the quotient is below 2^64.
[[nodiscard]] double share(const Ratio& part, const Ratio& whole);
/// The double nearest to `1 - part / whole`. REQUIRES: 0 <= part <= whole, and `whole` > 0.
[[nodiscard]] double share_lost(const Ratio& part, const Ratio& whole);

/// "80 %", "98.9 %": hundredths of a percent, rounded down exactly; "100 %" only where `part`
/// equals `whole`, and at least "100.01 %" where it is more. REQUIRES: as for `share`.
[[nodiscard]] std::string percent(const Ratio& part, const Ratio& whole);
/// The same of a `share` that was written down as a number.
[[nodiscard]] std::string percent(double written);

}  // namespace forestcoll
