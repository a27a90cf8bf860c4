// A progress bar for what takes longer than a second at a terminal, or half a minute elsewhere.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/report/time_left.hpp"

namespace forestcoll::cli {

/// Says what is being done once the command has run for a second: what part of it is done and
/// how long it will still take, where that is known, else for how long it has been going on. Drawn
/// on standard error by a thread of its own, on one line that is erased at the end. Where that is a
/// log, a line is added every 30 seconds of the command, from the 30th on. Nothing is drawn where
/// the program is quiet, or the system gives no thread for it. Of bars that live at once, the last
/// one is drawn.
class ProgressBar {
 public:
  ProgressBar(std::string stage, const Console& console);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();  ///< REQUIRES: the last that was made is the first to end

  /// `fraction` of the stage is done, 0 … 1. Safe to be called by several threads at once.
  void update(double fraction);
  /// Another stage has begun, or the same goes on; nothing is known of its end without a fraction.
  void update(std::string_view stage, std::optional<double> fraction);
  /// What is known so far: lines that stand above the bar, in place of those before, and are erased
  /// with it. Of more than the terminal has room for, the first are drawn.
  void show(std::vector<std::string> lines);

 private:
  using Clock = std::chrono::steady_clock;
  /// Error (std::system_error): the system gives no thread.
  void start(const Console& console);
  void draw_until(const std::stop_token& done, Clock::time_point first);
  /// Adds lines to a log, of a command that began then.
  void log_until(const std::stop_token& done, Clock::time_point command);
  /// All that there is to draw, over what was drawn before; empty while another bar is drawn.
  [[nodiscard]] std::string picture();
  [[nodiscard]] std::string erasure();
  [[nodiscard]] std::string line(Clock::time_point now);
  [[nodiscard]] std::string log_line(std::chrono::seconds of_command);

  static std::atomic<ProgressBar*> drawn_bar_;  ///< the terminal, or the log, has one

  std::mutex mutex_;  ///< of what follows
  std::string stage_;
  std::optional<double> fraction_;
  TimeLeft left_;
  std::vector<std::string> lines_;
  std::optional<std::size_t> drawn_;        ///< lines above the bar, once it is drawn
  Clock::time_point begin_ = Clock::now();  ///< of the stage
  ProgressBar* outer_ = nullptr;            ///< drawn again after this one
  std::jthread drawing_;
};

/// What `work` returns, under a bar for as long as it takes.
template <class Work>
[[nodiscard]] auto at_work(std::string stage, const Console& console, Work&& work) {
  const ProgressBar bar(std::move(stage), console);
  return work();
}

/// "stage [#####     ]  50 %  about 5 s left"
[[nodiscard]] std::string progress_line(const std::string& stage, double fraction,
                                        std::optional<double> seconds_left);

}  // namespace forestcoll::cli
