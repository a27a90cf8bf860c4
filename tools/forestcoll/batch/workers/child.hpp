// A child process that does one piece of work.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>

#include "batch/items/item.hpp"

namespace forestcoll::cli::batch {

/// How a child ended.
struct ChildEnd {
  int status = 0;                ///< of wait(2)
  std::string out, err;          ///< what it wrote; `err` its last part only
  double seconds = 0;            ///< since its start
  std::uint64_t peak_bytes = 0;  ///< resident at most
};

/// This program again, as `serve`. Ends with its parent, however that ends; first to go where the
/// system runs out of memory.
class Child {
 public:
  /// `mask` is the signal mask that it gets. `valid` says whether it could be started.
  Child(const std::string& request, const sigset_t& mask);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  /// Kills it, if it still runs, and waits for its end.
  ~Child();

  [[nodiscard]] bool valid() const { return pid_ > 0; }
  /// Nothing while it runs.
  [[nodiscard]] std::optional<ChildEnd> poll();
  void send(int signal_number) const;
  [[nodiscard]] double seconds() const;
  /// Resident at present.
  [[nodiscard]] std::uint64_t resident_bytes() const;
  /// Of its answer so far.
  [[nodiscard]] std::uint64_t answered_bytes() const;

 private:
  void close_streams();

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::chrono::steady_clock::time_point begin_;
};

/// What went wrong with a child that gave no whole answer, in words: J04, or J03 where it looks
/// like the system's want of memory.
[[nodiscard]] ItemError unanswered(const ChildEnd& end);

}  // namespace forestcoll::cli::batch
