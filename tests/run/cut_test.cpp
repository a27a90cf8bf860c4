// How a call is cut, and in which order a threadblock goes over the pieces.
#include "run/msccl/cut.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "run/msccl/cursor.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {
namespace {

audit::Step step(const char* type, std::int32_t offset, std::int32_t count) {
  audit::Step step;
  step.operation = audit::find_operation(type);
  step.source_offset = step.destination_offset = offset;
  step.count = count;
  return step;
}

TEST(Cut, IsTheRuntimesOwn) {
  const Cut small = cut_call("Simple", 256, 4, kDefaultBufferBytes);
  EXPECT_EQ(small.passes, 1);
  EXPECT_EQ(small.op_chunks, 71);  // 2 MiB hold more, and a step no more
  EXPECT_EQ(small.slots, 4);
  const Cut large = cut_call("Simple", 3 << 20, 4, kDefaultBufferBytes);
  EXPECT_EQ(large.pass, 1 << 19);  // 2 MiB
  EXPECT_EQ(large.passes, 6);
  EXPECT_EQ(large.op_chunks, 1);
  EXPECT_EQ(large.slot, 1 << 18);  // half an operation
  const Cut some = cut_call("Simple", 100000, 4, kDefaultBufferBytes);
  EXPECT_EQ(some.op_chunks, 5);
  const Cut packets = cut_call("LL", 3 << 20, 4, kDefaultBufferBytes);
  EXPECT_EQ(packets.slots, 8);
  EXPECT_EQ(packets.op_slices, 1);
  EXPECT_LT(packets.pass, large.pass / 16);
}

// What `simulate` assumes: two operations of Simple in flight, eight of LL, each one message.
TEST(Cut, InWholeOperations) {
  for (const std::int64_t chunk : {1, 100, 100000, 3 << 20}) {
    const Cut simple = in_whole_operations(cut_call("Simple", chunk, 4, kDefaultBufferBytes));
    EXPECT_EQ(simple.slots / 2, 2);
    const std::int64_t operation = simple.in_pass(0) * simple.op_chunks;
    EXPECT_GE(simple.slice_of(operation), operation);  // not cut
    EXPECT_EQ(in_whole_operations(cut_call("LL", chunk, 4, kDefaultBufferBytes)).slots / 2, 8);
  }
}

// Every element of every step once, for any size of chunks and buffers.
TEST(Cursor, GoesOverEveryElementOnce) {
  audit::Threadblock block;
  block.steps = {step("s", 0, 3), step("nop", 0, 1), step("r", 3, 71), step("cpy", 74, 1)};
  for (const std::int64_t chunk : {1, 2, 15, 16, 17, 100, 1000, 4097}) {
    for (const std::int64_t buffer : {1024, 4096, 65536}) {
      for (const char* protocol : {"Simple", "LL", "LL128"}) {
        const Cut cut = cut_call(protocol, chunk, 4, buffer);
        const Cut whole = in_whole_operations(cut);
        ASSERT_GE(whole.largest_slice(71), whole.in_pass(0) * whole.op_chunks);
        std::vector<int> seen(static_cast<std::size_t>(75 * chunk));
        for (Cursor at(block, cut, Cursor::Over::all_steps); !at.at_end(); at.next()) {
          if (at.step().operation->is_nop()) continue;
          ASSERT_GT(at.elements(), 0);
          ASSERT_LE(at.elements(), cut.largest_slice(at.step().count));
          ASSERT_LE(at.elements(), cut.slot);
          const std::int64_t begin = at.element(at.step().source_offset);
          for (std::int64_t i = 0; i < at.elements(); ++i) {
            ++seen.at(static_cast<std::size_t>(begin + i));
          }
        }
        EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << chunk << " " << buffer << protocol;
      }
    }
  }
}

// The receives ahead are the receives that come, in the same places of the FIFO.
TEST(Cursor, ReceivesAheadAreThoseThatCome) {
  audit::Threadblock block;
  block.steps = {step("s", 0, 1), step("r", 1, 9), step("rcs", 10, 2), step("s", 12, 1)};
  for (const std::int64_t chunk : {5, 500, 5000}) {
    const Cut cut = cut_call("Simple", chunk, 4, 16384);
    Cursor ahead(block, cut, Cursor::Over::receives);
    for (Cursor at(block, cut, Cursor::Over::all_steps); !at.at_end(); at.next()) {
      EXPECT_EQ(ahead.receive_position(), at.receive_position());  // while it sends, too
      if (!at.step().operation->receives) continue;
      ASSERT_FALSE(ahead.at_end());
      EXPECT_EQ(ahead.elements(), at.elements());
      ahead.next();
    }
    EXPECT_TRUE(ahead.at_end());
  }
}

TEST(Cursor, AThreadblockThatReceivesNothingHasNoReceives) {
  audit::Threadblock block;
  block.steps = {step("s", 0, 1)};
  const Cut cut = cut_call("Simple", 100000, 8, 1024);
  EXPECT_GT(cut.passes, 100);
  EXPECT_TRUE(Cursor(block, cut, Cursor::Over::receives).at_end());
  EXPECT_TRUE(Cursor(audit::Threadblock{}, cut, Cursor::Over::all_steps).at_end());
}

}  // namespace
}  // namespace forestcoll::run
