#include "progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <utility>

namespace forestcoll::cli {
namespace {

constexpr std::chrono::milliseconds delay(1000);
constexpr std::chrono::milliseconds interval(100);
constexpr int width = 30;

}  // namespace

std::string progress_line(const std::string& label, double fraction, double seconds) {
  const double done = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(done * width));
  const std::string bar = std::string(filled, '#') + std::string(width - filled, ' ');
  std::string line = fmt::format("{} [{}] {:3.0f} %", label, bar, done * 100);
  if (done > 0 && seconds > 0) {
    const double rate = done / seconds;
    line += fmt::format("  {:.1f} %/s  {:.0f} s left", rate * 100, (1 - done) / rate);
  }
  return line;
}

ProgressBar::ProgressBar(std::string label, const Console& console)
    : label_(std::move(label)),
      wanted_(console.terminal && !console.quiet),
      next_(begin_ + delay) {}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::update(double fraction) {
  const auto now = Clock::now();
  if (!wanted_ || now < next_) return;
  next_ = now + interval;
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  fmt::print(stderr, "\r{}\033[K", progress_line(label_, fraction, seconds));
  std::fflush(stderr);
}

SecondsTicker::SecondsTicker(std::string label, const Console& console) {
  if (!console.terminal || console.quiet) return;
  ticking_ = std::jthread([label = std::move(label)](const std::stop_token& done) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any wake;
    int seconds = 0;
    while (!wake.wait_for(lock, done, delay, [&] { return done.stop_requested(); })) {
      fmt::print(stderr, "\r{}: {} s\033[K", label, ++seconds);
      std::fflush(stderr);
    }
    if (seconds > 0) fmt::print(stderr, "\r\033[K");
  });
}

}  // namespace forestcoll::cli
