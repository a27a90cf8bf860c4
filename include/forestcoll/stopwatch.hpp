// Seconds for reports.
#pragma once

#include <chrono>
#include <utility>

namespace forestcoll {

class Stopwatch {
 public:
  /// Seconds since the beginning or the last restart.
  double restart() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(begin_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace forestcoll
