#include <algorithm>
#include <numeric>
#include <optional>

#include "solver/allreduce/split.hpp"

namespace forestcoll::solver {
namespace {

constexpr Int128 kMostUnits = Int128{1} << 62;
constexpr int kUnitBits = 32;  // of what is rounded

/// The greatest common measure of what is added, as far as it fits.
class Measure {
 public:
  void add(const Ratio& amount) {
    if (amount == Ratio(0) || !fits_) return;
    num_ = std::gcd(num_, amount.num());
    const Int128 common = Int128{den_} / std::gcd(den_, amount.den()) * amount.den();
    fits_ = common < kMostUnits;
    if (fits_) den_ = static_cast<std::int64_t>(common);
  }
  [[nodiscard]] std::optional<Ratio> value() const {
    return fits_ ? std::optional(Ratio(num_, den_)) : std::nullopt;
  }

 private:
  std::int64_t num_ = 0, den_ = 1;
  bool fits_ = true;
};

std::optional<Ratio> common_measure(const AllreduceSplit& split) {
  Measure measure;
  for (const auto* phase : {&split.broadcast, &split.reduce}) {
    for (const AllreduceTrees& trees : *phase) {
      for (const Ratio& amount : trees.root) measure.add(amount);
      for (const AllreduceArc& arc : trees.taken) measure.add(arc.amount);
    }
  }
  return measure.value();
}

Ratio largest_amount(const AllreduceSplit& split) {
  Ratio largest = 0;
  for (const AllreduceTrees& trees : split.broadcast) {
    for (const AllreduceArc& arc : trees.taken) largest = std::max(largest, arc.amount);
    for (const Ratio& amount : trees.root) largest = std::max(largest, amount);
  }
  return largest;
}

}  // namespace

SplitUnits::SplitUnits(const AllreduceSplit& split) {
  if (const auto measure = common_measure(split)) {
    unit_ = *measure;
    return;
  }
  exact_ = false;
  unit_ = largest_amount(split);
}

std::int64_t SplitUnits::count(const Ratio& amount) const {
  const Int128 num = Int128{amount.num()} * unit_.den();
  const Int128 den = Int128{amount.den()} * unit_.num();
  Int128 whole = num / den, rest = num % den;
  if (!exact_) {
    // Binary digits by long division: the numbers are below 2^126.
    for (int bit = 0; bit < kUnitBits; ++bit) {
      rest *= 2;
      whole = 2 * whole + (rest >= den ? 1 : 0);
      if (rest >= den) rest -= den;
    }
  }
  return static_cast<std::int64_t>(whole);
}

}  // namespace forestcoll::solver
