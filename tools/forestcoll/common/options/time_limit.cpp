#include "common/options/time_limit.hpp"

#include <chrono>

namespace forestcoll::cli {

TimeLimit::TimeLimit(std::optional<double> seconds) {
  if (!seconds) return;
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(*seconds));
  if (std::chrono::steady_clock::now() >= end) {
    source_.request_stop();
    return;
  }
  watcher_ = std::jthread([this, end](const std::stop_token& ended) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, ended, end, [] { return false; });
    if (!ended.stop_requested()) source_.request_stop();
  });
}

}  // namespace forestcoll::cli
