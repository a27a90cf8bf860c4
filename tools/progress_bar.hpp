// A progress bar for what takes longer than a second at a terminal.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "command.hpp"

namespace forestcoll::cli {

/// Drawn on standard error, on one line that is erased at the end; nothing is drawn where that is
/// no terminal or the program is quiet.
class ProgressBar {
 public:
  ProgressBar(std::string label, const Console& console);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  /// `fraction` of the work is done, 0 … 1.
  void update(double fraction);

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  bool wanted_;
  bool drawn_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
};

/// The seconds that something takes of which no fraction is known: "checking: 12 s". Drawn like a
/// progress bar, by a thread of its own.
class SecondsTicker {
 public:
  SecondsTicker(std::string label, const Console& console);
  SecondsTicker(const SecondsTicker&) = delete;
  SecondsTicker& operator=(const SecondsTicker&) = delete;

 private:
  std::jthread ticking_;
};

/// "label [#####     ]  50 %  10.0 %/s  5 s left"
[[nodiscard]] std::string progress_line(const std::string& label, double fraction, double seconds);

}  // namespace forestcoll::cli
