// A progress bar for what takes longer than a second at a terminal.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "command.hpp"

namespace forestcoll::cli {

/// Says what is being done once the command has run for a second: what part of it is done and
/// how long it will still take, where that is known, else for how long it has been going on. Drawn
/// on standard error by a thread of its own, on one line that is erased at the end; nothing is
/// drawn where that is no terminal or the program is quiet.
class ProgressBar {
 public:
  ProgressBar(std::string stage, const Console& console);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  /// `fraction` of the stage is done, 0 … 1. Safe to be called by several threads at once.
  void update(double fraction);
  /// Another stage has begun, or the same goes on; nothing is known of its end without a fraction.
  void update(std::string_view stage, std::optional<double> fraction);

 private:
  using Clock = std::chrono::steady_clock;
  /// What there is to draw.
  [[nodiscard]] std::string line(Clock::time_point now);

  std::mutex mutex_;  ///< of what follows
  std::string stage_;
  std::optional<double> fraction_;
  Clock::time_point begin_ = Clock::now();  ///< of the stage
  std::jthread drawing_;
};

/// What `work` returns, under a bar for as long as it takes.
template <class Work>
[[nodiscard]] auto at_work(std::string stage, const Console& console, Work&& work) {
  const ProgressBar bar(std::move(stage), console);
  return work();
}

/// "stage [#####     ]  50 %  5 s left"
[[nodiscard]] std::string progress_line(const std::string& stage, double fraction, double seconds);

}  // namespace forestcoll::cli
