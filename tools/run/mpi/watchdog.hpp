// Ends a run that gets stuck, and says who waits for what.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace forestcoll::run {

/// A thread that looks now and then whether a call gets on. Where no message has ended for so many
/// seconds, it prints what `describe` says on standard error, leaves the other ranks time to do the
/// same, and ends the process with exit code 1, whereupon mpirun ends the others.
class Watchdog {
 public:
  /// Seconds; 0: none, and no thread. `nap`: see `Guard::nap`.
  explicit Watchdog(int seconds, std::chrono::microseconds nap = {});
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// A call under way. Its state is its own but within `while_waiting`.
  class Guard {
   public:
    Guard(Watchdog& dog, std::function<std::string()> describe);
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard();
    template <class Wait>
    void while_waiting(Wait wait) {
      dog_.mutex_.unlock();
      wait();
      dog_.mutex_.lock();
      ++dog_.progress_;
    }

    /// How long a rank that waits sleeps before it looks for messages again; 0: it does not look,
    /// but waits in MPI.
    [[nodiscard]] std::chrono::microseconds nap() const { return dog_.nap_; }

   private:
    Watchdog& dog_;
  };

 private:
  void look();

  const int seconds_;
  const std::chrono::microseconds nap_;
  std::mutex mutex_;  // held by the call, and by whoever looks
  std::condition_variable end_;
  std::function<std::string()> describe_;  // null between calls
  std::uint64_t progress_ = 0;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace forestcoll::run
