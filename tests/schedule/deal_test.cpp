// What symmetric ranks have in the threadblocks of a plan is symmetric.
#include "schedule/mscclpp/deal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "forest/symmetry.hpp"
#include "schedule/forests.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll {
namespace {

using namespace testing;

// Boxes of `per_box` ranks each, turned by one box, and all boxes by one GPU.
Symmetry turning_boxes(int boxes, int per_box) {
  Symmetry::Generator gpus{per_box, {}, {}}, wholes{boxes, {}, {}};
  const auto add = [](Symmetry::Generator& generator, int image) {
    generator.nodes.push_back(NodeId(image));
    generator.ranks.push_back(Rank(image));
  };
  for (int v = 0; v < boxes * per_box; ++v) {
    add(gpus, v / per_box * per_box + (v + 1) % per_box);
    add(wholes, (v + per_box) % (boxes * per_box));
  }
  std::vector<Symmetry::Generator> generators;
  if (per_box > 1) generators.push_back(gpus);
  if (boxes > 1) generators.push_back(wholes);
  return Symmetry(generators);
}

IdVector<Rank, std::int32_t> box_of(int boxes, int per_box) {
  IdVector<Rank, std::int32_t> result;
  for (int v = 0; v < boxes * per_box; ++v) result.push_back(v / per_box);
  return result;
}

// A rank's threadblocks, other ranks by how many boxes and GPUs they are further on.
class Seen {
 public:
  Seen(const ExecutionPlan& plan, int boxes, int per_box, std::int64_t chunks_of_root, Rank rank)
      : gpu_(plan.gpus[rank]),
        boxes_(boxes),
        per_box_(per_box),
        chunks_of_root_(chunks_of_root),
        rank_(rank.value) {}

  [[nodiscard]] std::vector<std::string> threadblocks() const {
    std::vector<std::string> all;
    for (const PlanThreadblock& block : gpu_.threadblocks) {
      std::string text;
      for (const auto* list : {&block.before, &block.loop, &block.after}) {
        for (const PlanOperation& each : *list) text += words(each, block);
        text += "; ";
      }
      all.push_back(text);
    }
    std::ranges::sort(all);
    return all;
  }

 private:
  [[nodiscard]] std::string away(int other) const {
    const int box = (other / per_box_ - rank_ / per_box_ + boxes_) % boxes_;
    return fmt::format("{}.{}", box, (other - rank_ + boxes_ * per_box_) % per_box_);
  }

  [[nodiscard]] std::string words(const PlanSlice& slice) const {
    if (slice.buffer == Buffer::scratch) return "scratch";
    const auto root = static_cast<int>(slice.index / chunks_of_root_);
    return fmt::format("{}[{}]", away(root), slice.index % chunks_of_root_);
  }

  [[nodiscard]] std::string words(const PlanOperation& each, const PlanThreadblock& block) const {
    const auto kind = static_cast<std::size_t>(each.channel);
    std::string text = fmt::format("{}x{} on", static_cast<int>(each.kind), block.count);
    for (const std::int32_t channel : each.channels) {
      const auto of_gpu = block.channels[kind][static_cast<std::size_t>(channel)];
      text += " " + away(gpu_.peers[kind][static_cast<std::size_t>(of_gpu)].value);
    }
    for (const auto* slices : {&each.sources, &each.destinations}) {
      text += " |";
      for (const PlanSlice& slice : *slices) text += " " + words(slice);
    }
    return text + ", ";
  }

  const PlanGpu& gpu_;
  int boxes_, per_box_;
  std::int64_t chunks_of_root_;
  int rank_;
};

// With threadblocks for all, and with so few that each serves several trees and roots.
TEST(Deal, RanksThatSeeTheSameDoTheSame) {
  std::mt19937 random(29);
  int symmetric = 0, all = 0;
  for (const auto& [boxes, per_box] :
       std::vector<std::pair<int, int>>{{1, 4}, {2, 3}, {3, 4}, {7, 1}}) {
    for (int round = 0; round < 8; ++round) {
      const int n = boxes * per_box, trees = 1 + round % 3;
      std::vector<ParentTree> base;
      for (int t = 0; t < trees; ++t) base.push_back(random_tree(n, 0, 1, random));
      const Symmetry symmetry = turning_boxes(boxes, per_box);
      const Forest forest = make_forest(n, base, -1, symmetry, base.size());
      PlanOptions options;
      if (round > 2) options.shape = {.threadblocks = 4 * round, .parts = 2, .pipeline_depth = 2};
      const auto plan = lower_to_plan(collective_of(Collective::allreduce, trees, forest, forest),
                                      box_of(boxes, per_box), options);
      ASSERT_TRUE(plan) << to_string(plan.errors().front());
      const std::int64_t chunks = plan->gpus[Rank(0)].input_chunks / n;
      const auto first = Seen(*plan, boxes, per_box, chunks, Rank(0)).threadblocks();
      bool are_same = true;
      for (int r = 1; r < n; ++r) {
        const auto other = Seen(*plan, boxes, per_box, chunks, Rank(r)).threadblocks();
        are_same = are_same && other == first;
      }
      EXPECT_TRUE(are_same || round > 2) << boxes << " boxes of " << per_box << ", " << round;
      ++all;
      symmetric += are_same ? 1 : 0;
    }
  }
  EXPECT_GE(symmetric, 3 * all / 4);
}

// Trees that no symmetry moves may have other multiplicities at each root.
TEST(Deal, RootsMayHaveTreesOfOtherSizes) {
  const int n = 4;
  std::vector<ParentTree> base = {star(n, 0, 2)};
  for (int root = 0; root < n; ++root) {
    base.push_back(path(n, root, root == 1 ? 2 : 1));
    base.push_back(star(n, root, root == 1 ? 1 : 2));
  }
  const Forest forest = make_forest(n, base, -1, turning_boxes(1, n), 1);
  const CollectiveForest whole = collective_of(Collective::allreduce, 5, forest, forest);
  EXPECT_TRUE(schedule::Views(whole).move_all_ranks());
  PlanOptions options;
  options.shape = {.threadblocks = 8, .parts = 2};
  const auto plan = lower_to_plan(whole, box_of(1, n), options);
  ASSERT_TRUE(plan) << to_string(plan.errors().front());
}

// Each segment is in one list, and no list is much longer than they have to be.
TEST(Deal, ListsHoldEachSegmentOnceAndAreEven) {
  std::mt19937 random(31);
  for (int round = 0; round < 40; ++round) {
    const int boxes = 1 + static_cast<int>(random() % 4),
              per_box = 1 + static_cast<int>(random() % 6);
    const int n = boxes * per_box;
    if (n < 2) continue;
    std::vector<ParentTree> base = {random_tree(n, 0, 1, random)};
    for (int t = 0; t < round % 4; ++t) base.push_back(star(n, 0));
    const Forest forest = make_forest(n, base, -1, turning_boxes(boxes, per_box), base.size());
    const CollectiveForest whole = collective_of(
        Collective::allgather, static_cast<std::int64_t>(base.size()), forest, forest);
    const GroupForest group = group_of_all(whole, static_cast<std::size_t>(n));
    std::vector<schedule::Segment> segments;
    schedule::append_segments(group, 0, segments);
    const schedule::Views views(whole);
    const auto places = box_of(boxes, per_box);
    const schedule::PlanContext context{{&group, 1}, segments, views, places};
    const std::size_t share = 1 + random() % 40;
    const auto lists = schedule::deal(context, share).lists;
    EXPECT_LE(lists.size(), share);
    std::set<std::int32_t> dealt;
    std::size_t longest = 0;
    for (const auto& list : lists) {
      dealt.insert(list.begin(), list.end());
      longest = std::max(longest, list.size());
    }
    const std::size_t count =
        std::accumulate(lists.begin(), lists.end(), std::size_t{0},
                        [](std::size_t sum, const auto& list) { return sum + list.size(); });
    EXPECT_EQ(count, segments.size());
    EXPECT_EQ(dealt.size(), segments.size());
    const std::size_t least = (segments.size() + share - 1) / share;
    EXPECT_LE(longest, 2 * least) << boxes << " boxes of " << per_box << ", share " << share;
  }
}

}  // namespace
}  // namespace forestcoll
