// One rank's part of a schedule, whatever its format.
#pragma once

#include <memory>
#include <string>

#include "run/data/element.hpp"
#include "run/data/memory.hpp"

namespace forestcoll::run {

/// Ready for any number of calls of one size and type.
class RankRun {
 public:
  RankRun() = default;
  RankRun(const RankRun&) = delete;
  RankRun& operator=(const RankRun&) = delete;
  virtual ~RankRun() = default;

  /// Runs the schedule once, to its end: what this rank sends has been received, and what others
  /// read of it has been read. All ranks must call it.
  virtual void call(Memory& memory, ReduceOp op) = 0;
};

}  // namespace forestcoll::run
