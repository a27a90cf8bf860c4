// One runner: pieces of work from wherever they come, done wherever there is room: in children of
// this process, in threads of it, or on other machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "batch/items/item.hpp"
#include "batch/workers/process.hpp"

namespace forestcoll::cli::batch {

/// A piece of work: what `answer` is asked, and the bytes of memory that it takes, as estimated.
struct Job {
  std::size_t number = 0;
  std::string request = {};
  std::uint64_t footprint = 0;
};

/// How a job ended: done, or ended as it took too long or too much memory, by itself (see `error`),
/// or on demand, so that it is neither made nor failed.
enum class End : std::uint8_t { done, late, too_large, died, abandoned };

struct Finished {
  std::size_t number = 0;
  End end = End::done;
  std::string answer = {};       ///< all of it where it is done, else what there was
  ItemError error = {};          ///< of one that died: J03 or J04
  double seconds = 0;            ///< since its start
  std::uint64_t peak_bytes = 0;  ///< 0 where it is not known
};

struct RunnerLimits {
  int jobs = 1;                        ///< at once
  std::uint64_t memory = 0;            ///< bytes that all of them may take, as estimated
  bool memory_is_strict = false;       ///< a job that takes more by itself is ended
  std::optional<double> seconds = {};  ///< a job that answers nothing for longer is ended
};
/// Why a job that is not done was ended: J02, "`undone` after 5 s, the time limit", J03 or J04.
[[nodiscard]] ItemError why_ended(const Finished& finished, const RunnerLimits& limits,
                                  std::string_view undone);

/// A place of execution.
class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  /// Whether a job of this footprint may start now. One that is larger than the budget may where
  /// nothing else runs.
  [[nodiscard]] virtual bool has_room(std::uint64_t footprint) const = 0;
  /// REQUIRES: has_room(footprint).
  virtual void start(const Job& job) = 0;
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

/// A child for each job. `mask` is the signal mask that children get.
[[nodiscard]] std::unique_ptr<Runner> run_in_children(const RunnerLimits& limits,
                                                      const sigset_t& mask);
/// Threads of oneTBB in this process, without limits on time, or on memory but by estimate.
[[nodiscard]] std::unique_ptr<Runner> run_in_process(const RunnerLimits& limits);

/// Where jobs come from, and where what became of them goes.
struct Execution {
  std::list<std::size_t> waiting;  ///< numbers of jobs, the first first; `finished` may add some
  std::function<std::uint64_t(std::size_t number)> footprint;
  std::function<std::string(std::size_t number)> request;
  /// Called as jobs end; false: start no more, and abandon what runs.
  std::function<bool(Finished finished)> finished;
  std::function<void()> tick = [] {};  ///< called again and again
  /// Called where a signal asked to stop, and `running` jobs cannot be abandoned.
  std::function<void(std::size_t running)> cannot_stop = [](std::size_t) {};
};

/// Of the jobs that wait, the first that `runner` has room for is started, until none is left or
/// `gate` was asked to stop; asked again, the program ends at once. Returns when nothing runs any
/// more.
void execute(Execution& execution, Runner& runner, SignalGate& gate);

}  // namespace forestcoll::cli::batch
