// The loop that keeps workers busy, from the dearest item to the cheapest.
#pragma once

#include <functional>
#include <vector>

#include "batch/workers/runner.hpp"
#include "batch/workers/signals.hpp"

namespace forestcoll::cli::batch {

/// What the loop works on. `order` has indices of items.
struct Execution {
  std::vector<std::size_t> order;
  std::function<Task(std::size_t item)> task;
  std::function<std::uint64_t(std::size_t item)> footprint;
  /// Called as items end; false: start no more, and abandon what runs.
  std::function<bool(Finished finished)> finished;
  std::function<void()> tick;  ///< called again and again
  /// Called where a signal asked to stop, and `running` items cannot be abandoned.
  std::function<void(std::size_t running)> waiting;
};

/// Of the items that are left, the first that `runner` has room for is started, until none is left
/// or `gate` was asked to stop; asked again, the program ends at once. Returns when nothing runs
/// any more.
void execute(const Execution& execution, Runner& runner, SignalGate& gate);

}  // namespace forestcoll::cli::batch
