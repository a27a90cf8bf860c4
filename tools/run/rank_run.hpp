// One rank's part of a schedule, whatever its format.
#pragma once

#include <string>

#include "run/data/element.hpp"
#include "run/data/memory.hpp"
#include "run/mpi/wait_set.hpp"

namespace forestcoll::run {

/// Ready for any number of calls of one size and type, one after the other; `call_together` makes
/// them.
class RankRun {
 public:
  RankRun() = default;
  RankRun(const RankRun&) = delete;
  RankRun& operator=(const RankRun&) = delete;
  virtual ~RankRun() = default;

  /// Begins a call of the schedule. All ranks of its communicator must.
  virtual void begin(Memory& memory, ReduceOp op) = 0;
  /// Goes on until everything here waits for requests. Returns whether the call has ended: what
  /// this rank sends has been received, and what others read of it has been read.
  virtual bool advance() = 0;
  /// The requests that it waits for; not empty where `advance` returned false.
  [[nodiscard]] virtual WaitSet& waits() = 0;
  /// Takes note of a request of `waits` that has ended.
  virtual void note(const WaitSet::Done& done) = 0;
  /// Says in lines who waits for what.
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace forestcoll::run
