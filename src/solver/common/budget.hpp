// What an attempt at a packing may cost.
#pragma once

#include <cstdint>
#include <limits>
#include <stop_token>
#include <utility>

namespace forestcoll::solver {

/// Work is counted in steps of about an arc that is looked at, some nanoseconds. No clock is looked
/// at, so that the same input gives the same forest on every machine; only who asks to stop ends an
/// attempt at any time.
class Budget {
 public:
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  Budget(std::int64_t steps, std::stop_token stop) : steps_(steps), stop_(std::move(stop)) {}

  void spend(std::int64_t steps) { spent_ += steps; }
  [[nodiscard]] bool stopped() const { return stop_.stop_requested(); }
  [[nodiscard]] bool is_over() const { return spent_ >= steps_ || stopped(); }

 private:
  std::int64_t steps_, spent_ = 0;
  std::stop_token stop_;
};

}  // namespace forestcoll::solver
