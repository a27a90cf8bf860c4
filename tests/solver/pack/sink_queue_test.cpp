// Sinks on their way to several threads.
#include "solver/pack/trees/sink_queue.hpp"

#include <gtest/gtest.h>

namespace forestcoll::solver {
namespace {

TEST(SinkQueue, HandsOutEverySinkOnceAndInOrder) {
  SinkQueue queue(5, 300);
  std::size_t next = 5;
  while (const auto taken = queue.take()) {
    EXPECT_EQ(taken->begin, next);
    EXPECT_LT(taken->begin, taken->end);
    next = taken->end;
  }
  EXPECT_EQ(next, 300U);
  EXPECT_FALSE(queue.first());
}

TEST(SinkQueue, HasNothingWhereThereIsNone) {
  SinkQueue queue(7, 7);
  EXPECT_FALSE(queue.take());
}

// A thread that was given sinks earlier may well end later.
TEST(SinkQueue, TheFirstSinkCountsAndNotTheFirstReport) {
  SinkQueue queue(0, 1000);
  const auto early = queue.take();
  const auto late = queue.take();
  ASSERT_TRUE(early && late);
  queue.report(late->begin, 1);
  EXPECT_FALSE(queue.take());
  queue.report(early->begin + 1, 0);
  queue.report(late->begin + 1, 2);
  ASSERT_TRUE(queue.first());
  EXPECT_EQ(queue.first()->sink, early->begin + 1);
  EXPECT_EQ(queue.first()->finder, 0U);
}

}  // namespace
}  // namespace forestcoll::solver
