// Who does the work: children of this process, threads of it, or other machines.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "batch/workers/work.hpp"

namespace forestcoll::cli::batch {

/// What an item took, beside its answer.
struct Finished {
  std::size_t item = 0;
  Answer answer;
  double seconds = 0;
  std::uint64_t peak_bytes = 0;  ///< 0 where it is not known
  bool abandoned = false;        ///< stopped on demand: neither made nor failed
};

struct RunnerLimits {
  int jobs = 1;                        ///< items at once
  std::uint64_t memory = 0;            ///< bytes that all of them may take, as estimated
  bool memory_is_strict = false;       ///< an item that takes more by itself is ended (J03)
  std::optional<double> seconds = {};  ///< an item that takes longer is ended (J02)
};

class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  /// Whether an item of this footprint may start now. One that is larger than the budget may where
  /// nothing else runs.
  [[nodiscard]] virtual bool has_room(std::uint64_t footprint) const = 0;
  /// REQUIRES: has_room(footprint).
  virtual void start(std::size_t item, const Task& task, std::uint64_t footprint) = 0;
  /// What ended since the last call. Where something ends, SIGCHLD comes, if `interval` is long.
  [[nodiscard]] virtual std::vector<Finished> poll() = 0;
  [[nodiscard]] virtual std::size_t running() const = 0;
  /// Abandons what runs, if it can; `poll` gives it back.
  virtual void stop() = 0;
  /// Threads cannot be abandoned: these finish.
  [[nodiscard]] virtual bool can_abandon() const { return true; }
  /// How long it may take until `poll` should be called again.
  [[nodiscard]] virtual int interval_ms() const { return 100; }
};

/// Counts what runs against the limits.
class Load {
 public:
  explicit Load(const RunnerLimits& limits) : jobs_(limits.jobs), memory_(limits.memory) {}
  [[nodiscard]] bool has_room(std::uint64_t footprint) const {
    if (running_ == 0) return true;
    return running_ < static_cast<std::size_t>(jobs_) && used_ + footprint <= memory_;
  }
  void add(std::uint64_t footprint) {
    ++running_;
    used_ += footprint;
  }
  void remove(std::uint64_t footprint) {
    --running_;
    used_ -= footprint;
  }
  [[nodiscard]] std::size_t running() const { return running_; }

 private:
  int jobs_;
  std::uint64_t memory_;
  std::size_t running_ = 0;
  std::uint64_t used_ = 0;
};

/// A child per item. `mask` is the signal mask that children get.
[[nodiscard]] std::unique_ptr<Runner> run_in_children(const RunnerLimits& limits,
                                                      const sigset_t& mask);
/// Threads of oneTBB in this process, without limits on time, or on memory but by estimate.
[[nodiscard]] std::unique_ptr<Runner> run_in_process(const RunnerLimits& limits);

}  // namespace forestcoll::cli::batch
