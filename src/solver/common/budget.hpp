// What an attempt at a packing may cost.
#pragma once

#include <cstdint>
#include <limits>
#include <stop_token>
#include <utility>

namespace forestcoll::solver {

/// Work is counted in steps of about an arc that is looked at, some nanoseconds; and in repairs,
/// trees that were taken back, which tell that an attempt is a hard one long before its steps do.
/// No clock is looked at, so that the same input gives the same forest on every machine; only who
/// asks to stop ends an attempt at any time.
class Budget {
 public:
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  Budget(std::int64_t steps, std::stop_token stop, std::int64_t repairs = kUnlimited)
      : steps_left_(steps), repairs_left_(repairs), stop_(std::move(stop)) {}

  void spend(std::int64_t steps) { steps_left_ -= steps; }
  void spend_repair() { --repairs_left_; }
  [[nodiscard]] bool stopped() const { return stop_.stop_requested(); }
  [[nodiscard]] bool is_over() const { return steps_left_ <= 0 || repairs_left_ <= 0 || stopped(); }

 private:
  std::int64_t steps_left_, repairs_left_;
  std::stop_token stop_;
};

}  // namespace forestcoll::solver
