// How hard, how long and around what to solve: the options of every command that packs trees.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/pack.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// As written on the command line.
struct SolverArguments {
  std::string effort = "default";
  std::string threads;     ///< empty: as many as there are processors
  std::string time_limit;  ///< seconds; empty: none
  std::string max_height;  ///< empty: none
  bool tradeoff = false;
  std::string warm;  ///< a file; empty: none
};
/// --effort, --threads and --time-limit.
void add_effort_options(CLI::App& command, SolverArguments& arguments);
/// --max-height, --tradeoff and --warm.
void add_shape_options(CLI::App& command, SolverArguments& arguments);

/// As resolved.
struct SolverRequest {
  Effort effort = Effort::normal;
  int threads = 1;
  std::optional<double> seconds;  ///< of --time-limit
  std::optional<std::int32_t> max_height;
};
/// Errors (ErrorKind::input): S03 a value that cannot be read, S04 values that do not go together.
[[nodiscard]] Expected<SolverRequest> resolve(const SolverArguments& arguments);

class TimeLimit {
 public:
  /// The time runs from here; without a limit nothing happens, but what a host asks for.
  explicit TimeLimit(std::optional<double> seconds);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> host_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread watcher_;  ///< ended, and waited for, before what it uses is gone
};

}  // namespace forestcoll::cli
