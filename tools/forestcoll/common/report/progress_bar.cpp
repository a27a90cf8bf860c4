#include "common/report/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <stop_token>
#include <utility>

#include "common/report/report.hpp"

namespace forestcoll::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDelay(1000);   // of the first line, from the beginning of the command
constexpr milliseconds kFlicker(200);  // what ends sooner is not worth a line
constexpr milliseconds kInterval(100);
constexpr int kWidth = 30;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

std::string progress_line(const std::string& stage, double fraction, double seconds) {
  const double done = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(done * kWidth));
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, ' ');
  std::string line = fmt::format("{} [{}] {:3.0f} %", stage, bar, done * 100);
  if (done > 0) line += fmt::format("  {:.0f} s left", seconds * (1 - done) / done);
  return line;
}

ProgressBar::ProgressBar(std::string stage, const Console& console) : stage_(std::move(stage)) {
  if (!console.terminal || console.quiet) return;
  const auto first = std::max(console.begin + kDelay, begin_ + kFlicker);
  drawing_ = std::jthread([this, first](const std::stop_token& done) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any wake;
    bool drawn = false;
    const auto ended = [&] { return done.stop_requested(); };
    for (auto next = first; !wake.wait_until(lock, done, next, ended);
         next = Clock::now() + kInterval) {
      say(fmt::format("\r{}\033[K", line(Clock::now())));
      std::fflush(stderr);
      drawn = true;
    }
    if (drawn) {
      say(fmt::format("\r\033[K"));
      std::fflush(stderr);
    }
  });
}

ProgressBar::~ProgressBar() = default;

void ProgressBar::update(double fraction) {
  const std::lock_guard lock(mutex_);
  fraction_ = fraction;
}

void ProgressBar::update(std::string_view stage, std::optional<double> fraction) {
  const std::lock_guard lock(mutex_);
  if (stage != stage_) {
    stage_ = stage;
    begin_ = Clock::now();
  }
  fraction_ = fraction;
}

std::string ProgressBar::line(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const double seconds = seconds_between(begin_, now);
  if (fraction_.value_or(0) > 0) return progress_line(stage_, *fraction_, seconds);
  return fmt::format("{}: {:.0f} s", stage_, std::floor(seconds));
}

}  // namespace forestcoll::cli
