#include "common/report/time_left.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace forestcoll::cli {
namespace {

// Before that the first parts, which may be the largest or the smallest, are all that is known. Of
// what takes minutes a smaller part is enough.
constexpr double kFirstSeconds = 2, kFirstFraction = 0.2;
constexpr double kLongSeconds = 60, kLongFraction = 0.05;
constexpr double kGrowth = 1.15, kShrinkage = 1.7;  // of the estimate, at most, a second
constexpr double kLeast = 1;                        // seconds, until the stage has ended
constexpr double kMinute = 60, kSecondsShown = 100, kCoarse = 10, kStep = 5;

}  // namespace

std::optional<double> TimeLeft::update(double seconds, double fraction) {
  const double done = std::clamp(fraction, 0.0, 1.0);
  const bool is_known = (seconds >= kFirstSeconds && done >= kFirstFraction) ||
                        (seconds >= kLongSeconds && done >= kLongFraction);
  if (!left_ && !is_known) return std::nullopt;
  const double plain = seconds * (1 - done) / std::max(done, kLongFraction);
  const double passed = seconds - updated_;
  updated_ = seconds;
  if (left_) {
    const double before = std::max(*left_ - passed, kLeast);
    left_ = std::clamp(plain, before / std::pow(kShrinkage, passed),
                       before * std::pow(kGrowth, passed));
  } else {
    left_ = plain;
  }
  left_ = std::max(*left_, kLeast);
  return left_;
}

std::string time_left_in_words(double seconds) {
  if (seconds >= kSecondsShown) return fmt::format("about {:.0f} min left", seconds / kMinute);
  const double step = seconds >= kCoarse ? kStep : 1;
  return fmt::format("about {:.0f} s left", std::max(1.0, std::round(seconds / step) * step));
}

}  // namespace forestcoll::cli
