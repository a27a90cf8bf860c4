// Calls of one rank that are under way at the same time.
#pragma once

#include <span>
#include <string>

#include "run/mpi/watchdog.hpp"
#include "run/rank_run.hpp"

namespace forestcoll::run {

struct Call {
  RankRun* run = nullptr;
  Memory* memory = nullptr;
  ReduceOp op = ReduceOp::sum;
  std::string title = {};  ///< before each line about what it waits for
  double end = 0;          ///< of the last call, by MPI_Wtime
};

/// Makes all calls at once, each on a communicator of its own, and returns when all have ended.
void call_together(std::span<Call> calls, Watchdog& watchdog);

}  // namespace forestcoll::run
