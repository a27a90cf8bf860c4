// The same work on many things at a time.
#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include "common/report/progress_bar.hpp"

namespace forestcoll::cli {

/// Calls `work(i)` for every i below `count`, on `threads` threads (0: all processors), with a bar.
template <class Work>
void each_at_once(std::size_t count, int threads, std::string stage, const Console& console,
                  const Work& work) {
  ProgressBar bar(std::move(stage), console);
  std::atomic<std::size_t> done = 0;
  const int most = threads > 0 ? threads : oneapi::tbb::task_arena::automatic;
  oneapi::tbb::task_arena arena(most);
  arena.execute([&] {
    oneapi::tbb::parallel_for(
        std::size_t{0}, count,
        [&](std::size_t i) {
          work(i);
          bar.update(static_cast<double>(++done) / static_cast<double>(count));
        },
        oneapi::tbb::simple_partitioner());
  });
}

}  // namespace forestcoll::cli
