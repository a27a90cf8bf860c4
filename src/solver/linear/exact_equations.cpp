#include "solver/linear/exact_equations.hpp"

#include <algorithm>
#include <boost/multiprecision/miller_rabin.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {
namespace {

__extension__ using UInt128 = unsigned __int128;

constexpr std::uint64_t kPrimes[2] = {(std::uint64_t{1} << 61) - 1, (std::uint64_t{1} << 61) - 31};

// Products in an elimination: a second or so.
constexpr std::int64_t kMaxProducts = 100'000'000;

constexpr Int128 kLargest = Int128{1} << 60;

std::uint64_t times(std::uint64_t a, std::uint64_t b, std::uint64_t prime) {
  return static_cast<std::uint64_t>(static_cast<UInt128>(a) * b % prime);
}

std::uint64_t minus(std::uint64_t a, std::uint64_t b, std::uint64_t prime) {
  return a >= b ? a - b : a + prime - b;
}

// By Fermat's little theorem.
std::uint64_t inverse(std::uint64_t a, std::uint64_t prime) {
  std::uint64_t power = 1;
  for (std::uint64_t e = prime - 2; e != 0; e /= 2) {
    if (e % 2 == 1) power = times(power, a, prime);
    a = times(a, a, prime);
  }
  return power;
}

std::uint64_t residue(std::int64_t value, std::uint64_t prime) {
  const auto p = static_cast<std::int64_t>(prime);
  return static_cast<std::uint64_t>((value % p + p) % p);
}

// Gauss's elimination modulo a prime. The row with the fewest terms goes first, by its column with
// the fewest rows (Markowitz 1957, in short).
class Elimination {
 public:
  Elimination(std::span<const Equation> equations, std::size_t unknowns, std::uint64_t prime)
      : prime_(prime), rows_with_(unknowns) {
    for (const Equation& equation : equations) {
      Row row{{}, residue(equation.right, prime)};
      for (const Term& term : equation.terms) {
        const std::uint64_t value = residue(term.coefficient, prime);
        if (value != 0) row.entries.push_back({term.variable, value});
      }
      std::ranges::sort(row.entries, {}, &Entry::column);
      for (const Entry& entry : row.entries) rows_with_[entry.column].insert(rows_.size());
      by_size_.emplace(row.entries.size(), rows_.size());
      rows_.push_back(std::move(row));
    }
  }

  std::optional<std::vector<std::uint64_t>> solve() {
    std::vector<std::pair<std::size_t, std::size_t>> pivots;  // row, column
    while (!by_size_.empty()) {
      const std::size_t r = by_size_.begin()->second;
      by_size_.erase(by_size_.begin());
      if (rows_[r].entries.empty()) {
        if (rows_[r].right != 0) return std::nullopt;
        continue;
      }
      const std::size_t column = narrowest_column(rows_[r]);
      for (const Entry& entry : rows_[r].entries) rows_with_[entry.column].erase(r);
      for (const std::size_t other :
           std::vector(rows_with_[column].begin(), rows_with_[column].end())) {
        eliminate(other, r, column);
      }
      if (products_ > kMaxProducts) return std::nullopt;
      pivots.emplace_back(r, column);
    }
    if (pivots.size() < rows_with_.size()) return std::nullopt;
    std::vector<std::uint64_t> solution(rows_with_.size(), 0);
    for (auto pivot = pivots.rbegin(); pivot != pivots.rend(); ++pivot) {
      std::uint64_t right = rows_[pivot->first].right, coefficient = 0;
      for (const Entry& entry : rows_[pivot->first].entries) {
        if (entry.column == pivot->second) {
          coefficient = entry.value;
        } else {
          right = minus(right, times(entry.value, solution[entry.column], prime_), prime_);
        }
      }
      solution[pivot->second] = times(right, inverse(coefficient, prime_), prime_);
    }
    return solution;
  }

 private:
  struct Entry {
    std::size_t column = 0;
    std::uint64_t value = 0;
  };
  struct Row {
    std::vector<Entry> entries;  // by column
    std::uint64_t right = 0;
  };

  [[nodiscard]] std::size_t narrowest_column(const Row& row) const {
    return std::ranges::min_element(
               row.entries, {}, [&](const Entry& entry) { return rows_with_[entry.column].size(); })
        ->column;
  }

  static std::uint64_t value_at(const Row& row, std::size_t column) {
    return std::ranges::lower_bound(row.entries, column, {}, &Entry::column)->value;
  }

  // Takes the column out of a row by the pivot's.
  void eliminate(std::size_t row, std::size_t pivot, std::size_t column) {
    const Row& by = rows_[pivot];
    const std::uint64_t factor =
        times(value_at(rows_[row], column), inverse(value_at(by, column), prime_), prime_);
    by_size_.erase({rows_[row].entries.size(), row});
    std::vector<Entry> sum;
    auto a = rows_[row].entries.begin();
    for (const Entry& b : by.entries) {
      for (; a != rows_[row].entries.end() && a->column < b.column; ++a) sum.push_back(*a);
      const bool both = a != rows_[row].entries.end() && a->column == b.column;
      const std::uint64_t value =
          minus(both ? a->value : 0, times(factor, b.value, prime_), prime_);
      if (value != 0) {
        sum.push_back({b.column, value});
        if (!both) rows_with_[b.column].insert(row);
      } else if (both) {
        rows_with_[b.column].erase(row);
      }
      if (both) ++a;
    }
    sum.insert(sum.end(), a, rows_[row].entries.end());
    products_ += static_cast<std::int64_t>(by.entries.size());
    rows_[row].entries = std::move(sum);
    rows_[row].right = minus(rows_[row].right, times(factor, by.right, prime_), prime_);
    by_size_.emplace(rows_[row].entries.size(), row);
  }

  std::uint64_t prime_;
  std::vector<Row> rows_;
  std::vector<std::set<std::size_t>> rows_with_;           // by column: rows that are not used yet
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  // of rows that are not used yet
  std::int64_t products_ = 0;
};

using Whole = boost::multiprecision::cpp_int;

// The next prime below `below`. Rabin's test, so many times, is wrong once in 2^50, and then a
// solution fails its check.
std::uint64_t prime_below(std::uint64_t below) {
  constexpr unsigned kTests = 25;
  do {
    below -= 2;
  } while (!boost::multiprecision::miller_rabin_test(Whole(below), kTests));
  return below;
}

// The fraction whose terms are below the root of half the modulus that is so much modulo it.
std::optional<std::pair<Whole, Whole>> wide_fraction(const Whole& value, const Whole& modulus) {
  const Whole most = boost::multiprecision::sqrt(Whole(modulus / 2));
  Whole a = modulus, b = value, of_a = 0, of_b = 1;
  while (b > most) {
    const Whole quotient = a / b;
    a = std::exchange(b, Whole(a - quotient * b));
    of_a = std::exchange(of_b, Whole(of_a - quotient * of_b));
  }
  if (of_b == 0 || abs(of_b) > most) return std::nullopt;
  if (of_b < 0) return std::pair(Whole(-b), Whole(-of_b));
  return std::pair(b, of_b);
}

// One after the other over the common denominator so far, which so soon is that of all.
std::optional<WideFractions> wide_fractions(const std::vector<Whole>& values,
                                            const Whole& modulus) {
  WideFractions common;
  std::vector<std::pair<Whole, Whole>> found;
  for (const Whole& value : values) {
    auto fraction = wide_fraction(value * common.denominator % modulus, modulus);
    if (!fraction) return std::nullopt;
    fraction->second *= common.denominator;
    common.denominator = fraction->second;
    found.push_back(*std::move(fraction));
  }
  for (const auto& [numerator, denominator] : found) {
    common.numerators.push_back(numerator * (common.denominator / denominator));
  }
  return common;
}

bool holds_modulo(const WideFractions& solution, const std::vector<std::uint64_t>& residues,
                  std::uint64_t prime) {
  for (std::size_t i = 0; i < residues.size(); ++i) {
    if ((solution.denominator * residues[i] - solution.numerators[i]) % prime != 0) return false;
  }
  return true;
}

// The fraction with small terms that is so much modulo so much, by the extended Euclidean
// algorithm stopped half-way.
std::optional<Ratio> reconstructed(Int128 value, Int128 modulus) {
  Int128 a = modulus, b = value, of_a = 0, of_b = 1;
  while (b >= kLargest) {
    const Int128 quotient = a / b;
    a = std::exchange(b, a - quotient * b);
    of_a = std::exchange(of_b, of_a - quotient * of_b);
  }
  if (of_b == 0 || of_b >= kLargest || of_b <= -kLargest) return std::nullopt;
  return Ratio::reduced(b, of_b);
}

}  // namespace

std::optional<CommonFractions> solve_exactly(std::span<const Equation> equations,
                                             std::size_t unknowns, std::int64_t max_denominator) {
  const auto first = Elimination(equations, unknowns, kPrimes[0]).solve();
  if (!first) return std::nullopt;
  const auto second = Elimination(equations, unknowns, kPrimes[1]).solve();
  if (!second) return std::nullopt;
  const std::uint64_t back = inverse(kPrimes[0] % kPrimes[1], kPrimes[1]);
  std::vector<Ratio> values;
  CommonFractions common;
  for (std::size_t i = 0; i < unknowns; ++i) {
    // The number modulo both primes, by the Chinese remainder theorem.
    const std::uint64_t step =
        times(minus((*second)[i], (*first)[i] % kPrimes[1], kPrimes[1]), back, kPrimes[1]);
    const auto value = reconstructed((*first)[i] + static_cast<Int128>(kPrimes[0]) * step,
                                     static_cast<Int128>(kPrimes[0]) * kPrimes[1]);
    if (!value) return std::nullopt;
    const std::int64_t factor = value->den() / std::gcd(value->den(), common.denominator);
    if (factor > max_denominator / common.denominator) return std::nullopt;
    common.denominator *= factor;
    values.push_back(*value);
  }
  for (const Ratio& value : values) {
    const Int128 numerator = static_cast<Int128>(value.num()) * (common.denominator / value.den());
    if (numerator >= kLargest || numerator <= -kLargest) return std::nullopt;
    common.numerators.push_back(static_cast<std::int64_t>(numerator));
  }
  return common;
}

std::optional<WideFractions> solve_widely(std::span<const Equation> equations,
                                          std::size_t unknowns) {
  std::vector<Whole> values(unknowns, 0);  // modulo `modulus`
  Whole modulus = 1;
  std::optional<WideFractions> found;
  std::uint64_t prime = kPrimes[0];
  for (int i = 0; i < kMostPrimes; ++i) {
    const auto residues = Elimination(equations, unknowns, prime).solve();
    if (!residues) return std::nullopt;
    if (found && holds_modulo(*found, *residues, prime)) return found;
    // Chinese remainders.
    const std::uint64_t back = inverse(static_cast<std::uint64_t>(modulus % prime), prime);
    for (std::size_t j = 0; j < unknowns; ++j) {
      const auto known = static_cast<std::uint64_t>(values[j] % prime);
      values[j] += modulus * times(minus((*residues)[j], known, prime), back, prime);
    }
    modulus *= prime;
    found = wide_fractions(values, modulus);
    prime = prime_below(prime);
  }
  return std::nullopt;
}

}  // namespace forestcoll::solver
