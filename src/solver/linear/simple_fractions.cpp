#include "solver/linear/simple_fractions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {
namespace {

constexpr std::int64_t kLargestTerm = std::int64_t{1} << 62;
constexpr int kMostTerms = 90;  // denominators grow as Fibonacci's numbers do: these leave 64 bits

struct Fraction {
  std::int64_t num = 0, den = 1;
};

// The fraction of least denominator between the two, the common beginning of their continued
// fractions; `terms` at most of them. None where rounding has left nothing between.
// REQUIRES: 0 < low <= high.
std::optional<Fraction> simplest_between(double low, double high, std::int64_t max_denominator,
                                         int terms = kMostTerms) {
  const double whole = std::ceil(low);
  if (whole >= static_cast<double>(kLargestTerm)) return std::nullopt;
  if (whole <= high) return Fraction{static_cast<std::int64_t>(whole), 1};
  const double below = whole - 1;
  if (terms == 0 || !(low < high) || !(below < low)) return std::nullopt;
  const auto rest =
      simplest_between(1 / (high - below), 1 / (low - below), max_denominator, terms - 1);
  if (!rest || rest->num > max_denominator) return std::nullopt;
  const Int128 num = static_cast<Int128>(below) * rest->num + rest->den;
  if (num >= kLargestTerm) return std::nullopt;
  return Fraction{static_cast<std::int64_t>(num), rest->num};
}

std::optional<Fraction> simplest_near(double value, double tolerance,
                                      std::int64_t max_denominator) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return std::nullopt;
  if (size <= tolerance) return Fraction{};
  auto found = simplest_between(size - tolerance, size + tolerance, max_denominator);
  if (found && value < 0) found->num = -found->num;
  return found;
}

}  // namespace

double largest(std::span<const double> values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

std::optional<CommonFractions> simple_fractions(std::span<const double> values, double tolerance,
                                                std::int64_t max_denominator) {
  std::vector<Fraction> fractions;
  CommonFractions common;
  for (const double value : values) {
    const auto fraction = simplest_near(value, tolerance, max_denominator);
    if (!fraction) return std::nullopt;
    const std::int64_t factor = fraction->den / std::gcd(fraction->den, common.denominator);
    if (factor > max_denominator / common.denominator) return std::nullopt;
    common.denominator *= factor;
    fractions.push_back(*fraction);
  }
  for (const Fraction& fraction : fractions) {
    const Int128 numerator =
        static_cast<Int128>(fraction.num) * (common.denominator / fraction.den);
    if (numerator >= kLargestTerm || numerator <= -kLargestTerm) return std::nullopt;
    common.numerators.push_back(static_cast<std::int64_t>(numerator));
  }
  return common;
}

}  // namespace forestcoll::solver
