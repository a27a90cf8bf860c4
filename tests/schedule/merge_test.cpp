// Where a target reads fewer steps than there are, messages of several trees become one.
#include "schedule/msccl/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "forestcoll/schedule.hpp"
#include "schedule/lowered.hpp"
#include "schedule/msccl/waits.hpp"

namespace forestcoll::testing {
namespace {

using schedule::Message;
using schedule::MessageId;

// From GPU `root` of boxes of so many to the GPUs of its box, and to the one in the same place of
// every other box, which goes on to those of its own.
ParentTree by_rails(int boxes, int gpus, int root) {
  ParentTree tree{root, 1, {}};
  for (int v = 0; v < boxes * gpus; ++v) {
    const int entry = v / gpus * gpus + root % gpus;
    tree.parents.push_back(v == root ? -1 : v == entry ? root : entry);
  }
  return tree;
}

CollectiveForest rails(Collective collective, int boxes, int gpus, int k, int root = 0) {
  std::vector<ParentTree> trees;
  for (const int r : roots_of(collective, boxes * gpus, root)) {
    for (int i = 0; i < k; ++i) trees.push_back(by_rails(boxes, gpus, r));
  }
  const Forest forest = make_forest(boxes * gpus, trees);
  return collective_of(collective, k, forest, forest, root);
}

IdVector<NodeId, std::int32_t> boxes_of(int boxes, int gpus) {
  IdVector<NodeId, std::int32_t> result;
  for (int v = 0; v < boxes * gpus; ++v) result.push_back(v / gpus);
  return result;
}

// Every chunk that goes over an edge, and how.
std::multiset<std::tuple<Rank, Rank, bool, std::int32_t>> chunks_moved(
    const IdVector<MessageId, Message>& messages) {
  std::multiset<std::tuple<Rank, Rank, bool, std::int32_t>> moved;
  for (const Message& message : messages) {
    for (std::int32_t c = message.first_chunk; c < message.end_chunk(); ++c) {
      moved.insert({message.src, message.dst, message.reduces, c});
    }
  }
  return moved;
}

TEST(Merge, OrdersRootsByTheirPlaceInTheirBoxes) {
  const Forest forest = make_forest(6, {star(6, 0)});
  std::vector<int> order;
  for (const Rank r : schedule::roots_by_place(forest, boxes_of(2, 3))) order.push_back(r.value);
  EXPECT_THAT(order, ::testing::ElementsAre(0, 3, 1, 4, 2, 5));
  order.clear();
  for (const Rank r : schedule::roots_by_place(forest, {})) order.push_back(r.value);
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Merge, MovesTheSameChunksInFewerMessages) {
  const int boxes = 4, gpus = 3, n = boxes * gpus;
  const CollectiveForest forest = rails(Collective::allreduce, boxes, gpus, 1);
  const auto roots = schedule::roots_by_place(*forest.broadcast, boxes_of(boxes, gpus));
  const auto messages =
      schedule::with_roots_in_order(schedule::order_messages(forest, {}), forest, roots);
  const auto merged = schedule::MessageMerger(messages, 71, n).merged(2);
  EXPECT_EQ(chunks_moved(merged), chunks_moved(messages));
  // In every box each GPU sends its part of what the four roots of another place sum to the GPU of
  // that place, two by two; what comes down again is still one by one, and so are the rails.
  const int edges = n * (n - 1), leaves = boxes * gpus * (gpus - 1) * (boxes - 1);
  EXPECT_EQ(messages.size(), static_cast<std::size_t>(2 * edges));
  EXPECT_LT(merged.size(), messages.size());
  EXPECT_GE(merged.size(), static_cast<std::size_t>(2 * edges - leaves));
  const schedule::Waits waits(merged, n);
  for (std::size_t m = 0; m < merged.size(); ++m) {
    const Message& message = merged[MessageId(m)];
    EXPECT_LE(message.count, 2);
    EXPECT_TRUE(message.count == 1 || waits.at_sender(MessageId(m)).empty());
  }
  EXPECT_EQ(schedule::MessageMerger(messages, 71, n).merged(1).size(), messages.size());
}

// 360 trees of 3 edges per root, two phases, two ends: 4,320 steps of 4,095 elements.
TEST(MergeLong, SchedulesFitThatWouldNotOneByOne) {
  const int boxes = 2, gpus = 2, n = boxes * gpus;
  for (const Placement placement : {Placement::in_place, Placement::both}) {
    LowerOptions options{.target = "azure", .max_threadblocks = 108, .placement = placement};
    options.boxes = boxes_of(boxes, gpus);
    const auto schedule = lowered_right(rails(Collective::allreduce, boxes, gpus, 360), options, 1);
    ASSERT_EQ(schedule.programs.size(), static_cast<std::size_t>(n));
    std::int64_t most = 0;
    for (const auto& program : schedule.programs) {
      for (const auto& block : program.threadblocks) {
        for (const auto& step : block.steps) most = std::max(most, step.count);
      }
    }
    EXPECT_GT(most, 1);
  }
}

TEST(MergeLong, OtherCollectivesMergeTheTreesOfOneRoot) {
  const LowerOptions options{.target = "azure", .max_threadblocks = 108};
  lowered_right(rails(Collective::allgather, 2, 4, 320), options, 1);
  // 300 trees of 15 edges from one root: 4,500 steps.
  const Forest stars = make_forest(16, std::vector<ParentTree>(300, star(16, 0)));
  lowered_right(collective_of(Collective::broadcast, 300, stars, stars), options, 1);
}

}  // namespace
}  // namespace forestcoll::testing
