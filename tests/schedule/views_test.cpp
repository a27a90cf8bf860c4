// Trees that are images of one another become programs that are images of one another.
#include "schedule/views.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "forest/symmetry.hpp"
#include "schedule/lowered.hpp"

namespace forestcoll {
namespace {

using namespace testing;

constexpr unsigned kSeeds = 3;

// Ranks 0 … m − 1 in a circle and, where n > m, others that stay: turned by one.
Symmetry turning(int n, int m) {
  Symmetry::Generator generator{m, {}, {}};
  for (int v = 0; v < n; ++v) {
    const int image = v < m ? (v + 1) % m : v;
    generator.nodes.push_back(NodeId(image));
    generator.ranks.push_back(Rank(image));
  }
  return Symmetry({generator});
}

// What a rank of a circle of n does, peers and chunks counted from itself on.
std::string as_seen(const Schedule& schedule, int n, Rank rank) {
  const auto peer = [&](Rank other) {
    return other.valid() ? (other.value - rank.value + n) % n : -1;
  };
  const auto place = [&](const Slice& slice) {
    if (slice.buffer == Buffer::scratch) return std::string("scratch");
    const bool is_own =
        slice.buffer == Buffer::input && schedule.collective == Collective::allgather;
    if (is_own) return fmt::format("own.{}", slice.offset);
    const std::int64_t root = slice.offset / schedule.k;
    return fmt::format("{}.{}", (root - rank.value + n) % n, slice.offset % schedule.k);
  };
  std::string text;
  for (const Threadblock& block : schedule.programs[rank].threadblocks) {
    text += fmt::format("to {} from {} on {}:", peer(block.send_peer), peer(block.recv_peer),
                        block.channel);
    for (const Step& step : block.steps) {
      text +=
          fmt::format(" {} {}x{}", static_cast<int>(step.operation), place(step.src), step.count);
      if (step.depends_on) {
        text += fmt::format(" after {}.{}", step.depends_on->threadblock, step.depends_on->step);
      }
    }
    text += "\n";
  }
  return text;
}

TEST(Views, EveryRankOfAnOrbitSeesWhatTheFirstSees) {
  const Symmetry symmetry = turning(6, 4);
  const Forest forest = make_forest(6, {star(6, 0)}, -1, symmetry, 1);
  CollectiveForest whole;
  whole.broadcast = forest;
  const schedule::Views views(whole);
  for (int r = 0; r < 4; ++r) {
    ASSERT_TRUE(views.is_moved(Rank(r)));
    for (int v = 0; v < 6; ++v) {
      EXPECT_EQ(views.seen(Rank(r), Rank(v)), Rank(v < 4 ? (v - r + 4) % 4 : v));
    }
  }
  EXPECT_FALSE(views.is_moved(Rank(4)));
  EXPECT_EQ(views.seen(Rank(5), Rank(2)), Rank(2));
}

TEST(Views, TreesShowTheirSymmetry) {
  const Forest stars = make_forest(4, {star(4, 0), star(4, 1), star(4, 2), star(4, 3)});
  CollectiveForest whole;
  whole.broadcast = stars;
  EXPECT_EQ(schedule::Views(whole).seen(Rank(1), Rank(3)), Rank(2));
  // Two boxes of two: the GPUs of a box are not alike, the boxes are.
  const Forest boxes =
      make_forest(4, {star(4, 0), {1, 1, {1, -1, 0, 0}}, star(4, 2), {3, 1, {2, 2, 3, -1}}});
  whole.broadcast = boxes;
  const schedule::Views views(whole);
  EXPECT_EQ(views.seen(Rank(2), Rank(3)), Rank(1));
  EXPECT_EQ(views.seen(Rank(3), Rank(3)), Rank(1));
  EXPECT_EQ(views.seen(Rank(3), TreeId(3), false), TreeId(1));
}

TEST(Views, BothPhasesMustHaveTheSymmetry) {
  CollectiveForest whole;
  whole.reduce = make_forest(4, {star(4, 0)}, -1, turning(4, 4), 1).reversed();
  whole.broadcast = make_forest(4, {star(4, 0), path(4, 1), star(4, 2), star(4, 3)});
  const schedule::Views views(whole);
  EXPECT_FALSE(views.is_moved(Rank(1)));
  EXPECT_EQ(views.seen(Rank(1), Rank(3)), Rank(3));
}

// Without forwarding, no threadblock has two ends, so no rank has to choose between images.
TEST(Views, ImagesBecomeImages) {
  std::mt19937 random(17);
  for (const int n : {3, 4, 7, 8}) {
    for (int trees = 1; trees <= 3; ++trees) {
      std::vector<ParentTree> base;
      for (int t = 0; t < trees; ++t) base.push_back(random_tree(n, 0, 1, random));
      const Forest forest = make_forest(n, base, -1, turning(n, n), base.size());
      for (const Collective collective : {Collective::allgather, Collective::allreduce}) {
        LowerOptions options{"azure", 108};
        options.forward = false;
        const auto schedule =
            lowered_right(collective_of(collective, trees, forest, forest), options, kSeeds);
        const std::string first = as_seen(schedule, n, Rank(0));
        for (int r = 1; r < n; ++r) {
          EXPECT_EQ(as_seen(schedule, n, Rank(r)), first)
              << to_string(collective) << ", rank " << r;
        }
      }
    }
  }
}

// Under all limits, with forwarding, and with roots that stay, whose trees are no images.
TEST(ViewsLong, DataAreRightUnderAnyLimit) {
  std::mt19937 random(23);
  const int n = 6;
  for (const int moved : {6, 5, 4}) {
    std::vector<ParentTree> base = {random_tree(n, 0, 1, random), random_tree(n, 0, 1, random)};
    for (int v = moved; v < n; ++v) base.push_back(random_tree(n, v, 2, random));
    const Forest forest = make_forest(n, base, -1, turning(n, moved), 2);
    for (std::int32_t limit = 6; limit <= 40; limit += 2) {
      for (const Collective collective : {Collective::allgather, Collective::allreduce}) {
        lowered_right(collective_of(collective, 2, forest, forest), {"azure", limit}, kSeeds);
      }
    }
  }
}

}  // namespace
}  // namespace forestcoll
