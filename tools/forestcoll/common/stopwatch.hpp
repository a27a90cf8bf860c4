// Seconds for the summary.
#pragma once

#include <chrono>

namespace forestcoll::cli {

class Stopwatch {
 public:
  /// Seconds since the beginning or the last restart.
  double restart() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    begin_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace forestcoll::cli
