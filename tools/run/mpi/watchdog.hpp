// Ends a run that gets stuck, and says who waits for what.
#pragma once

#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace forestcoll::run {

/// A thread that looks now and then whether a call gets on. Where no message has ended for so many
/// seconds, it tells rank 0 what `describe` says. Rank 0 prints one message of all ranks on
/// standard error and ends its process with exit code 1, whereupon mpirun ends the others. Where
/// MPI cannot be called by several threads, every rank prints its own.
class Watchdog {
 public:
  /// Seconds; 0: none, and no thread. `nap`: see `Guard::nap`. To be called by all ranks.
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
  [[nodiscard]] bool is_told_of_others() const;  // rank 0, by another rank that is stuck
  [[noreturn]] void end_stuck(const std::string& here) const;
  [[nodiscard]] std::vector<std::string> texts_of_others() const;

  const int seconds_;
  const std::chrono::microseconds nap_;
  MPI_Comm reports_ = MPI_COMM_NULL;  // of texts to rank 0; null: every rank prints its own
  int rank_ = 0;
  std::mutex mutex_;  // held by the call, and by whoever looks
  std::condition_variable end_;
  std::function<std::string()> describe_;  // null between calls
  std::uint64_t progress_ = 0;
  bool is_over_ = false;
  std::thread thread_;
};

/// One message of what ranks wait for, of those that say anything: the first lines of each.
[[nodiscard]] std::string stuck_message(int seconds, const std::vector<std::string>& of_ranks);

}  // namespace forestcoll::run
