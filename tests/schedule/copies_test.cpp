// Who copies what a rank owns.
#include "schedule/msccl/copies.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace forestcoll::testing {
namespace {

using schedule::BlockLoad;
using schedule::CopyLimits;
using Ends = std::vector<std::int64_t>;

// Chunks by threadblock, of shares that follow one another from 0 to `chunks`.
std::map<std::size_t, std::int64_t> shared(std::int64_t chunks, const std::vector<BlockLoad>& loads,
                                           const CopyLimits& limits, const Ends& ends = {}) {
  std::map<std::size_t, std::int64_t> by_threadblock;
  std::int64_t next = 0;
  for (const auto& share : share_copies({0, chunks}, loads, limits, ends)) {
    EXPECT_EQ(share.range.begin, next);
    EXPECT_TRUE(by_threadblock.emplace(share.threadblock, share.range.size()).second);
    next = share.range.end;
  }
  EXPECT_EQ(next, chunks);
  return by_threadblock;
}

using Chunks = std::map<std::size_t, std::int64_t>;

TEST(Copies, HaveThreadblocksThatKeepUpWithTheBusiestLane) {
  const std::vector<BlockLoad> loads = {{4, 4, 1}, {3, 3, 1}};
  EXPECT_EQ(shared(8, loads, {64, 71, 9, 4000}), (Chunks{{2, 4}, {3, 4}}));
  EXPECT_EQ(shared(4, loads, {64, 71, 9, 4000}), (Chunks{{2, 4}}));
}

// With one to spare where two would keep up, all end with as much: 6, 6 and 5.
TEST(Copies, AreSharedByThoseWithTheLeastToDo) {
  const std::vector<BlockLoad> loads = {{4, 4, 1}, {3, 3, 1}};
  EXPECT_EQ(shared(8, loads, {64, 71, 1, 4000}), (Chunks{{2, 5}, {1, 2}, {0, 1}}));
  EXPECT_EQ(shared(9, loads, {64, 71, 0, 4000}), (Chunks{{1, 5}, {0, 4}}));
}

TEST(Copies, KeepTheLimits) {
  const std::vector<BlockLoad> loads = {{4, 4, 63}, {3, 3, 64}};
  EXPECT_EQ(shared(9, loads, {64, 71, 0, 4000}), (Chunks{{0, 9}})) << "the other has no room";
  EXPECT_EQ(shared(80, loads, {64, 71, 0, 4000}), (Chunks{{0, 71}, {2, 9}})) << "no room for 80";
  EXPECT_EQ(shared(9, {}, {1, 4, 0, 4000}), (Chunks{{0, 4}, {1, 4}, {2, 1}}));
  EXPECT_EQ(shared(8, {{4, 4, 1}}, {64, 71, 9, 4}), (Chunks{{1, 8}})) << "elements for one";
}

TEST(Copies, EndWhereTheyMay) {
  const std::vector<BlockLoad> loads = {{4, 4, 1}, {3, 3, 1}};
  EXPECT_EQ(shared(8, loads, {64, 71, 9, 4000}, {3, 6, 8}), (Chunks{{2, 6}, {3, 2}}));
  EXPECT_EQ(shared(8, loads, {64, 5, 9, 4000}, {8}), (Chunks{{2, 8}})) << "in two steps";
}

}  // namespace
}  // namespace forestcoll::testing
