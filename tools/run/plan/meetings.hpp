// How threadblocks of a plan wait for one another, here and on other ranks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "run/plan/task.hpp"

namespace forestcoll::run {

/// Barriers and semaphores of this rank, and signals that came from others.
class PlanMeetings {
 public:
  /// Of a threadblock at its barrier.
  struct Arrival {
    bool is_there = false;
    std::int64_t passed = 0;  ///< how often others had passed it before
  };

  /// `semaphores`: what they begin with.
  explicit PlanMeetings(std::vector<std::int64_t> semaphores)
      : semaphores_(std::move(semaphores)) {}
  /// Barriers begin anew; what signals and semaphores have stays, as in the runtime.
  void begin_call() { barriers_.clear(); }

  /// Each of these tells whether the threadblock may go on; until then it is to be asked again.
  bool arrive(const audit::PlanOp& barrier, Arrival& arrival);
  bool wait(const std::vector<PlanEnd>& ends);
  bool acquire(const std::vector<std::int64_t>& ids);

  void release(const std::vector<std::int64_t>& ids);
  /// `channel`: as `channel_number` has it.
  void note_signal(int from, std::int64_t channel) { ++signals_[{from, channel}]; }
  /// The first of the ends of which there is no signal.
  [[nodiscard]] std::optional<PlanEnd> missing(const std::vector<PlanEnd>& ends) const;

  /// A channel among those between two ranks.
  [[nodiscard]] static std::int64_t channel_number(const PlanEnd& end);

 private:
  struct Barrier {
    std::int64_t here = 0, passed = 0;
  };
  using Channel = std::pair<int, std::int64_t>;  // the other rank, and its number

  std::map<std::int64_t, Barrier> barriers_;
  std::vector<std::int64_t> semaphores_;
  std::map<Channel, std::int64_t> signals_;
};

}  // namespace forestcoll::run
