// Whole numbers for the division of an allreduce.
#pragma once

#include <cstdint>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// The unit in which all amounts of a split are whole; or, where they have no common one of
/// 64 bits, a 2^32nd of the largest one, to whose multiples they are rounded down.
class SplitUnits {
 public:
  /// REQUIRES: something is broadcast. Cost: linear in the split.
  explicit SplitUnits(const AllreduceSplit& split);

  [[nodiscard]] bool exact() const { return exact_; }
  /// REQUIRES: one of the split's amounts, or 0.
  [[nodiscard]] std::int64_t count(const Ratio& amount) const;

 private:
  Ratio unit_;  ///< or the largest amount, where that is not exact
  bool exact_ = true;
};

}  // namespace forestcoll::solver
