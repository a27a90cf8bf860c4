// Lowering with all checks that the tests of schedules have.
#pragma once

#include <gtest/gtest.h>

#include "forestcoll/schedule.hpp"
#include "schedule/forests.hpp"
#include "schedule/rules.hpp"
#include "schedule/run.hpp"

namespace forestcoll::testing {

/// Lowers, and expects the rules to be kept and the data to be right.
inline Schedule lowered_right(const CollectiveForest& forest, const LowerOptions& options,
                              unsigned seeds) {
  const auto schedule = lower(forest, options);
  if (!schedule) {
    ADD_FAILURE() << to_string(schedule.errors().front());
    return {};
  }
  EXPECT_EQ(broken_rule(*schedule, *find_target(options.target), options.max_threadblocks), "");
  EXPECT_EQ(run_in_many_ways(*schedule, seeds), "") << to_string(forest.collective);
  return *schedule;
}

inline std::size_t steps_of(const Schedule& schedule, Operation operation) {
  std::size_t steps = 0;
  for (const auto& program : schedule.programs) {
    for (const auto& block : program.threadblocks) {
      for (const auto& step : block.steps) steps += step.operation == operation;
    }
  }
  return steps;
}

}  // namespace forestcoll::testing
