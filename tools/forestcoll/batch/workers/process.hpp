// This process: what it may use of the machine, and signals as events.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>

namespace forestcoll::cli::batch {

[[nodiscard]] int processors();
/// Bytes: of the machine, or less where a control group limits it, as in containers and jobs.
[[nodiscard]] std::uint64_t memory();
/// Where the address space is limited (`ulimit -v`), so many threads share so many heaps as fit
/// into it. Call before they are started.
void share_heaps(int threads);

/// While this lives, SIGINT, SIGTERM, SIGHUP and SIGCHLD do not interrupt; `wait` takes note of
/// them. Threads that are started meanwhile inherit that; one thread waits.
class SignalGate {
 public:
  SignalGate();
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;
  ~SignalGate();

  /// Until a signal comes, or the time is over.
  void wait(std::chrono::milliseconds at_most);
  /// The first of the signals that ask to stop, or 0.
  [[nodiscard]] int stop_signal() const { return stop_signal_; }
  /// The next signal that asks to stop ends the program at once.
  void let_through();
  /// What children must be given back.
  [[nodiscard]] const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t awaited_ = {}, before_ = {};
  struct sigaction child_before_ = {};
  int stop_signal_ = 0;
};

}  // namespace forestcoll::cli::batch
