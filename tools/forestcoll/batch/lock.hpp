// One batch at a time in a directory of outputs; shards of one batch side by side.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli::batch {

/// Shard `index` of `count`, from 1.
struct Shard {
  int index = 1, count = 1;
};

/// Held as long as this lives, and released by the system however the process ends. Lock files
/// stay, and name their last holder.
class Lock {
 public:
  /// Locks the directory, for a shard against the same shard and against whole batches. Errors:
  /// J05 (ErrorKind::io) somebody else has it, with the host and process id; or the file cannot be
  /// made.
  [[nodiscard]] static Expected<Lock> take(const std::string& directory,
                                           const std::optional<Shard>& shard);
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  Lock(Lock&& other) noexcept
      : files_(std::exchange(other.files_, {})),
        previous_(std::move(other.previous_)),
        alone_(other.alone_) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock();

  /// Who held the lock and ended without releasing it: "process 123 on host".
  [[nodiscard]] const std::optional<std::string>& previous_holder() const { return previous_; }
  /// No other batch and no other shard is here.
  [[nodiscard]] bool alone() const { return alone_; }

 private:
  Lock() = default;
  std::vector<std::pair<int, bool>> files_;  // with whether our name stands in it
  std::optional<std::string> previous_;
  bool alone_ = false;
};

}  // namespace forestcoll::cli::batch
