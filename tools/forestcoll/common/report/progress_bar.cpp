#include "common/report/progress_bar.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <stop_token>
#include <system_error>
#include <utility>

#include "common/report/report.hpp"

namespace forestcoll::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDelay(1000);   // of the first line, from the beginning of the command
constexpr milliseconds kFlicker(200);  // what ends sooner is not worth a line
constexpr milliseconds kInterval(100);
constexpr std::chrono::seconds kLogInterval(30);
constexpr int kWidth = 30;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

struct Window {
  std::size_t lines = 24, columns = 80;
};

// Of standard error; as terminals once were, where it does not say.
Window window_of_terminal() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return {};
  Window window;
  if (size.ws_row > 1) window.lines = size.ws_row;
  if (size.ws_col > 1) window.columns = size.ws_col;
  return window;
}

}  // namespace

std::atomic<ProgressBar*> ProgressBar::drawn_bar_ = nullptr;

std::string progress_line(const std::string& stage, double fraction,
                          std::optional<double> seconds_left) {
  const double done = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(done * kWidth));
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, ' ');
  std::string line = fmt::format("{} [{}] {:3.0f} %", stage, bar, done * 100);
  if (seconds_left && done < 1) line += "  " + time_left_in_words(*seconds_left);
  return line;
}

ProgressBar::ProgressBar(std::string stage, const Console& console) : stage_(std::move(stage)) {
  if ((!console.terminal && !console.log) || console.quiet) return;
  outer_ = drawn_bar_.exchange(this);
  try {
    start(console);
  } catch (const std::system_error&) {  // no more threads: the work goes on unseen
    drawn_bar_ = outer_;
  }
}

void ProgressBar::start(const Console& console) {
  if (console.log) {
    drawing_ = std::jthread(
        [this, begin = console.begin](const std::stop_token& done) { log_until(done, begin); });
    return;
  }
  const auto first = std::max(console.begin + kDelay, begin_ + kFlicker);
  drawing_ = std::jthread([this, first](const std::stop_token& done) { draw_until(done, first); });
}

ProgressBar::~ProgressBar() {
  if (!drawing_.joinable()) return;
  drawing_.request_stop();
  drawing_.join();
  drawn_bar_ = outer_;
}

void ProgressBar::draw_until(const std::stop_token& done, Clock::time_point first) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any wake;
  const auto ended = [&] { return done.stop_requested(); };
  for (auto next = first; !wake.wait_until(lock, done, next, ended);
       next = Clock::now() + kInterval) {
    say(picture());
    std::fflush(stderr);
  }
  say(erasure());
  std::fflush(stderr);
}

void ProgressBar::log_until(const std::stop_token& done, Clock::time_point command) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any wake;
  const auto ended = [&] { return done.stop_requested(); };
  auto of_command = kLogInterval * ((Clock::now() - command) / kLogInterval + 1);
  for (; !wake.wait_until(lock, done, command + of_command, ended); of_command += kLogInterval) {
    if (drawn_bar_ == this) say(log_line(of_command) + "\n");
  }
}

// A bar within this one begins where this one's lines are erased.
std::string ProgressBar::picture() {
  if (drawn_bar_ != this) return erasure();
  const std::string bar = line(Clock::now());
  const std::lock_guard lock(mutex_);
  const std::size_t before = drawn_.value_or(0);
  std::string picture = "\r";
  if (before > 0) picture += fmt::format("\033[{}A", before);
  const Window window = window_of_terminal();
  drawn_ = std::min(lines_.size(), window.lines - 1);
  for (std::size_t i = 0; i < *drawn_; ++i) {
    picture += lines_[i].substr(0, window.columns - 1) + "\033[K\n";
  }
  return picture + bar + (before == 0 ? "\033[K" : "\033[J");
}

std::string ProgressBar::erasure() {
  const std::lock_guard lock(mutex_);
  if (!drawn_) return {};
  const std::size_t above = *std::exchange(drawn_, std::nullopt);
  return above == 0 ? "\r\033[K" : fmt::format("\r\033[{}A\033[J", above);
}

void ProgressBar::update(double fraction) {
  const std::lock_guard lock(mutex_);
  fraction_ = fraction;
}

void ProgressBar::update(std::string_view stage, std::optional<double> fraction) {
  const std::lock_guard lock(mutex_);
  if (stage != stage_) {
    stage_ = stage;
    begin_ = Clock::now();
    left_ = {};
  }
  fraction_ = fraction;
}

void ProgressBar::show(std::vector<std::string> lines) {
  const std::lock_guard lock(mutex_);
  lines_ = std::move(lines);
}

// "solving: 50 % after 30 s, about 40 s left"
std::string ProgressBar::log_line(std::chrono::seconds of_command) {
  const std::lock_guard lock(mutex_);
  const double fraction = std::clamp(fraction_.value_or(0), 0.0, 1.0);
  std::string line = stage_ + ":";
  if (fraction > 0) line += fmt::format(" {:.0f} %", fraction * 100);
  line += fmt::format(" after {} s", of_command.count());
  const auto left = fraction > 0 ? left_.update(seconds_between(begin_, Clock::now()), fraction)
                                 : std::optional<double>();
  return left ? line + ", " + time_left_in_words(*left) : line;
}

std::string ProgressBar::line(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const double seconds = seconds_between(begin_, now);
  if (fraction_.value_or(0) > 0) {
    return progress_line(stage_, *fraction_, left_.update(seconds, *fraction_));
  }
  return fmt::format("{}: {:.0f} s", stage_, std::floor(seconds));
}

}  // namespace forestcoll::cli
