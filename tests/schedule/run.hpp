// Schedules of the library, run by the runtime in miniature.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>

#include "forestcoll/schedule.hpp"
#include "support/executor.hpp"

namespace forestcoll::testing {

/// The same schedule in the words of the file that it becomes.
inline audit_test::Algo to_algo(const Schedule& schedule) {
  const auto word = [](Operation operation) {
    switch (operation) {
      case Operation::send:
        return "s";
      case Operation::recv:
        return "r";
      case Operation::recv_copy_send:
        return "rcs";
      case Operation::recv_reduce_send:
        return "rrs";
      case Operation::recv_reduce_copy:
        return "rrc";
      case Operation::recv_reduce_copy_send:
        return "rrcs";
      case Operation::copy:
        return "cpy";
      case Operation::reduce:
        return "re";
      case Operation::nop:
        break;
    }
    return "nop";
  };
  const auto letter = [](Buffer buffer) {
    return buffer == Buffer::input ? 'i' : buffer == Buffer::output ? 'o' : 's';
  };
  audit_test::Algo algo;
  algo.coll = to_string(schedule.collective);
  std::erase(algo.coll, '_');
  algo.nchunks = static_cast<int>(schedule.chunks);
  algo.inplace = schedule.in_place ? 1 : 0;
  algo.outofplace = schedule.out_of_place ? 1 : 0;
  algo.root = schedule.root ? schedule.root->value : 0;
  for (const RankProgram& program : schedule.programs) {
    audit_test::Gpu gpu{static_cast<int>(program.input_chunks),
                        static_cast<int>(program.output_chunks),
                        static_cast<int>(program.scratch_chunks),
                        {}};
    for (const Threadblock& block : program.threadblocks) {
      audit_test::Tb tb{block.send_peer.value, block.recv_peer.value, block.channel, {}};
      for (const Step& step : block.steps) {
        const StepRef on = step.depends_on.value_or(StepRef());
        tb.steps.push_back({word(step.operation), letter(step.src.buffer),
                            static_cast<int>(step.src.offset), letter(step.dst.buffer),
                            static_cast<int>(step.dst.offset), static_cast<int>(step.count),
                            on.threadblock, on.step, step.has_dependent ? 1 : 0});
      }
      gpu.tbs.push_back(std::move(tb));
    }
    algo.gpus.push_back(std::move(gpu));
  }
  return algo;
}

/// Runs a schedule as it may be called, for several splits of steps, operations in flight and
/// orders of execution, with `room` for that many operations in flight and more. Returns what went
/// wrong first, or nothing.
inline std::string run_in_many_ways(const Schedule& schedule, unsigned seeds, int room = 1) {
  const audit_test::Algo algo = to_algo(schedule);
  const int most = audit_test::largest_count(algo);
  const std::set<int> splits = {1, 2, 3, most / 2 + 1, most};
  for (const bool in_place : {true, false}) {
    if (!(in_place ? schedule.in_place : schedule.out_of_place)) continue;
    for (const int split : splits) {
      if (split > most) continue;
      for (unsigned seed = 0; seed < seeds; ++seed) {
        const int depth = room + static_cast<int>(seed % 3);
        audit_test::Executor executor(algo, in_place, split, depth, seed);
        executor.watch_races();
        if (executor.run() == audit_test::Outcome::right) continue;
        return fmt::format("{} split {} seed {}: {}", in_place ? "in place" : "out of place", split,
                           seed, executor.complaint());
      }
    }
  }
  return "";
}

}  // namespace forestcoll::testing
