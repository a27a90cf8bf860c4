// What ranks put in, and whether what comes out is noticed to be wrong.
#include "run/data/contents.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "run/data/float16.hpp"

namespace forestcoll::run {
namespace {

CallShape shape_of(Pattern pattern, ElementType type, std::int64_t ranks, std::int64_t whole) {
  CallShape shape;
  shape.pattern = pattern;
  shape.ranks = ranks;
  shape.whole = whole;
  shape.element_bytes = size_of(type);
  return shape;
}

std::vector<Memory> filled(const CallShape& shape, const Contents& contents) {
  std::vector<Memory> memories;
  for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
    memories.emplace_back(shape, rank);
    contents.fill(memories.back(), rank);
  }
  return memories;
}

// Adds up the inputs of these ranks, in this order, into the output of rank 0.
void add_up(std::vector<Memory>& memories, const CallShape& shape, ElementType type, ReduceOp op,
            const std::vector<std::size_t>& order) {
  std::byte* sum = memories[0].at(Buffer::output, 0);
  std::memcpy(sum, memories[order[0]].at(Buffer::input, 0),
              static_cast<std::size_t>(shape.whole) * shape.element_bytes);
  for (std::size_t i = 1; i < order.size(); ++i) {
    reduce(type, op, sum, memories[order[i]].at(Buffer::input, 0), shape.whole);
  }
}

TEST(Contents, AnyOrderOfAddingUpIsRightAndAMissingOrSecondShareIsWrong) {
  constexpr std::int64_t kRanks = 9, kElements = 256;
  std::mt19937 random(7);
  for (const ElementType type : all_element_types()) {
    for (const ReduceOp op : all_reduce_ops()) {
      const CallShape shape = shape_of(Pattern::allreduce, type, kRanks, kElements);
      const Contents contents(shape, type, op, 0, random());
      auto memories = filled(shape, contents);
      std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5, 6, 7, 8};
      for (int trial = 0; trial < 5; ++trial) {
        std::shuffle(order.begin(), order.end(), random);
        add_up(memories, shape, type, op, order);
        EXPECT_EQ(contents.wrong(memories[0], 0), 0) << to_string(type) << " " << to_string(op);
      }
      for (std::size_t missing = 0; missing < order.size(); ++missing) {
        auto fewer = order;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(missing));
        add_up(memories, shape, type, op, fewer);
        EXPECT_GT(contents.wrong(memories[0], 0), 0) << to_string(type) << " " << to_string(op);
      }
      if (op == ReduceOp::max || op == ReduceOp::min) continue;
      order.push_back(order[3]);
      add_up(memories, shape, type, op, order);
      EXPECT_GT(contents.wrong(memories[0], 0), 0) << to_string(type) << " " << to_string(op);
    }
  }
}

TEST(Contents, ThousandRanksStayExactInTheNarrowestTypes) {
  constexpr std::int64_t kRanks = 1024, kElements = 32;
  for (const ElementType type : {ElementType::bfloat16, ElementType::half}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod}) {
      const CallShape shape = shape_of(Pattern::allreduce, type, kRanks, kElements);
      const Contents contents(shape, type, op, 0, 3);
      auto memories = filled(shape, contents);
      std::vector<std::size_t> backwards(kRanks);
      for (std::size_t i = 0; i < backwards.size(); ++i) backwards[i] = backwards.size() - 1 - i;
      add_up(memories, shape, type, op, backwards);
      EXPECT_EQ(contents.wrong(memories[0], 0), 0) << to_string(type) << " " << to_string(op);
    }
  }
}

TEST(Contents, EveryWrongElementIsCounted) {
  const CallShape shape = shape_of(Pattern::allgather, ElementType::int32, 4, 64);
  const Contents contents(shape, ElementType::int32, ReduceOp::max, 0, 1);
  auto memories = filled(shape, contents);
  EXPECT_EQ(contents.wrong(memories[2], 2), 64);  // nothing was moved: poison
  for (std::int64_t from = 0; from < 4; ++from) {
    std::memcpy(memories[2].at(Buffer::output, from * 16),
                memories[static_cast<std::size_t>(from)].at(Buffer::input, 0), 16 * 4);
  }
  EXPECT_EQ(contents.wrong(memories[2], 2), 0);
  *memories[2].at(Buffer::output, 63) ^= std::byte{1};
  *memories[2].at(Buffer::input, 5) ^= std::byte{1};
  EXPECT_EQ(contents.wrong(memories[2], 2), 2);  // out of place the input is to stay
}

// Of three chunks of four elements rank 0 owns two, rank 1 none.
TEST(Contents, UnequalPartsAreTheirOwners) {
  audit::Program program;
  program.pattern = Pattern::allgather;
  program.ranks = program.chunks = 3;
  for (const std::int64_t share : {2, 0, 1}) {
    audit::Gpu& gpu = program.gpus.emplace_back();
    gpu.id = static_cast<std::int32_t>(program.gpus.size() - 1);
    gpu.input_chunks = share;
  }
  const audit::OwnParts parts(program);
  CallShape shape = shape_of(Pattern::allgather, ElementType::int32, 3, 12);
  shape.parts = &parts;
  shape.chunk = 4;
  EXPECT_EQ(shape.input(0), 8);
  EXPECT_EQ(shape.input(1), 0);
  EXPECT_EQ(shape.output(1), 12);
  const Contents contents(shape, ElementType::int32, ReduceOp::max, 0, 1);
  auto memories = filled(shape, contents);
  std::byte* gathered = memories[1].at(Buffer::output, 0);
  std::memcpy(gathered, memories[0].at(Buffer::input, 0), 32);
  std::memcpy(gathered + 32, memories[2].at(Buffer::input, 0), 16);
  EXPECT_EQ(contents.wrong(memories[1], 1), 0);
  std::memcpy(gathered + 28, memories[2].at(Buffer::input, 0), 4);
  EXPECT_EQ(contents.wrong(memories[1], 1), 1);
  shape.placement = Placement::in_place;
  Memory last(shape, 2);
  EXPECT_EQ(last.at(Buffer::input, 0), last.at(Buffer::output, 8));
}

TEST(Contents, CallsDiffer) {
  const CallShape shape = shape_of(Pattern::broadcast, ElementType::single, 2, 64);
  const Contents first(shape, ElementType::single, ReduceOp::max, 1, 1);
  const Contents second(shape, ElementType::single, ReduceOp::max, 1, 2);
  auto memories = filled(shape, first);
  std::memcpy(memories[0].at(Buffer::output, 0), memories[1].at(Buffer::input, 0), 64 * 4);
  EXPECT_EQ(first.wrong(memories[0], 0), 0);
  EXPECT_GT(second.wrong(memories[0], 0), 60);
}

TEST(Memory, InPlaceTheRanksPartIsWithinTheWhole) {
  CallShape shape = shape_of(Pattern::allgather, ElementType::half, 4, 32);
  shape.placement = Placement::in_place;
  Memory gather(shape, 3);
  EXPECT_EQ(gather.at(Buffer::input, 0), gather.at(Buffer::output, 24));
  shape.pattern = Pattern::reduce_scatter;
  Memory scatter(shape, 3);
  EXPECT_EQ(scatter.at(Buffer::output, 0), scatter.at(Buffer::input, 24));
  shape.pattern = Pattern::allreduce;
  Memory reduce(shape, 3);
  EXPECT_EQ(reduce.at(Buffer::output, 0), reduce.at(Buffer::input, 0));
}

TEST(Float16, EveryHalfComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    const auto value = static_cast<float>(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Half(value))));
    } else {
      EXPECT_EQ(Half(value).bits, bits);
    }
  }
}

// The nearest of the two neighbours, by arithmetic in double; ties to the one with the even
// fraction.
TEST(Float16, RoundsToTheNearestTiesToEven) {
  std::mt19937 random(5);
  std::uniform_int_distribution<std::uint32_t> any(0, 0x7bff);
  for (int i = 0; i < 100000; ++i) {
    Half low, high;
    low.bits = static_cast<std::uint16_t>(std::min(any(random), 0x7bfeU));
    high.bits = static_cast<std::uint16_t>(low.bits + 1);
    const double a = static_cast<float>(low), b = static_cast<float>(high);
    const int part = static_cast<int>(random() % 9);  // eighths, the middle among them
    const double value = a + (b - a) * part / 8;
    const std::uint16_t expected = part < 4                          ? low.bits
                                   : part > 4 || (low.bits & 1) != 0 ? high.bits
                                                                     : low.bits;
    EXPECT_EQ(Half(static_cast<float>(value)).bits, expected) << value;
    EXPECT_EQ(Half(static_cast<float>(-value)).bits, expected | 0x8000);
  }
  EXPECT_EQ(Half(65520.0F).bits, 0x7c00);  // beyond the largest: infinite
  EXPECT_EQ(Half(1e30F).bits, 0x7c00);
  EXPECT_EQ(BFloat16(1.00390625F).bits, 0x3f80);  // 1 + 2^-8: a tie, to the even one below
  EXPECT_EQ(BFloat16(1.01171875F).bits, 0x3f82);  // 1 + 3 * 2^-8: a tie, to the even one above
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(NAN))));
}

}  // namespace
}  // namespace forestcoll::run
