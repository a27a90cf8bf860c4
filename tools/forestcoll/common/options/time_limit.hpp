// Asks for a stop when the time is over.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace forestcoll::cli {

class TimeLimit {
 public:
  /// The time runs from here; nothing happens without a limit.
  explicit TimeLimit(std::optional<double> seconds);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread watcher_;  ///< ended, and waited for, before what it uses is gone
};

}  // namespace forestcoll::cli
