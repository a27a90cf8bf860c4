// What leaves a box through one NIC of several is on channels that the runtime gives that NIC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

#include "forest/route_table.hpp"
#include "schedule/lowered.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::ElementsAre;

constexpr int kRanks = 6, kPerBox = 2, kNics = 3;

int nic_node(int rank, int nic) {
  return kRanks + rank * kNics + nic;
}

// GPUs two by two in boxes, each beside three NICs of its box; one switch outside.
IdVector<NodeId, std::int32_t> boxes() {
  IdVector<NodeId, std::int32_t> result;
  for (int r = 0; r < kRanks; ++r) result.push_back(r / kPerBox);
  for (int r = 0; r < kRanks; ++r) {
    for (int nic = 0; nic < kNics; ++nic) result.push_back(r / kPerBox);
  }
  result.push_back(-1);
  return result;
}

// A forest whose edges between boxes each leave through a NIC at random.
struct Wired {
  Forest forest;
  std::map<int, std::set<int>> used;  // NICs, by sender

  [[nodiscard]] int nic_of(std::size_t tree, int receiver) const {
    return (forest.path(TreeId(tree), Rank(receiver))[1].value - kRanks) % kNics;
  }
};

Wired wire(const std::vector<ParentTree>& trees, int nics, std::mt19937& random) {
  std::vector<NodeId> ranks;
  for (int r = 0; r < kRanks; ++r) ranks.emplace_back(r);
  RouteTable table(ranks);
  Wired wired;
  std::vector<Forest::Tree> made;
  std::vector<Route> routes;
  for (const ParentTree& tree : trees) {
    std::int32_t height = 0;
    for (int v = 0; v < kRanks; ++v) {
      const int parent = tree.parents[static_cast<std::size_t>(v)];
      height = std::max(height, depth_of(tree, v));
      if (parent < 0) {
        routes.emplace_back();
      } else if (parent / kPerBox == v / kPerBox) {
        routes.push_back({PrefixId(parent), table.add_segment(std::array{NodeId(v)})});
      } else {
        const int nic = below(random, nics);
        const NodeId outside(kRanks * (1 + kNics));
        const auto leave = table.add_segment(std::array{NodeId(nic_node(parent, nic)), outside});
        const auto arrive = table.add_segment(std::array{NodeId(nic_node(v, nic)), NodeId(v)});
        routes.push_back({table.extend(PrefixId(parent), leave), arrive});
        wired.used[parent].insert(nic);
      }
    }
    made.push_back({Rank(tree.root), tree.multiplicity, height});
  }
  wired.forest = Forest(std::move(table), std::move(made), std::move(routes));
  return wired;
}

CollectiveForest allgather_of(const Wired& wired, std::int64_t k) {
  return collective_of(Collective::allgather, k, wired.forest, wired.forest);
}

// The tree of each chunk of the whole buffer.
std::vector<std::size_t> tree_of_chunk(const Forest& forest, std::int64_t k) {
  std::vector<std::size_t> result(static_cast<std::size_t>(kRanks * k));
  IdVector<Rank, std::int64_t> next(kRanks);
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const auto& tree = forest.tree(TreeId(t));
    for (std::int64_t i = 0; i < tree.multiplicity; ++i) {
      result[static_cast<std::size_t>(tree.root.value * k + next[tree.root]++)] = t;
    }
  }
  return result;
}

TEST(Rails, ChannelsAreOfTheNicThatTheForestUses) {
  std::mt19937 random(3);
  for (const auto use : {ThreadblockUse::spread, ThreadblockUse::merge, ThreadblockUse::per_tree}) {
    const std::int64_t k = 4;
    const auto trees = random_trees(kRanks, k, roots_of(Collective::allgather, kRanks, 0), random);
    const Wired wired = wire(trees, kNics, random);
    const LowerOptions options{.threadblocks = use, .boxes = boxes()};
    const auto schedule = lowered_right(allgather_of(wired, k), options, 2);
    const auto trees_of = tree_of_chunk(wired.forest, k);
    std::size_t crossing = 0;
    for (int r = 0; r < kRanks; ++r) {
      const auto found = wired.used.find(r);
      for (const auto& block : schedule.programs[Rank(r)].threadblocks) {
        const int to = block.send_peer.value;
        if (to < 0 || to / kPerBox == r / kPerBox) continue;
        for (const Step& step : block.steps) {
          if (step.operation != Operation::send && step.operation != Operation::recv_copy_send) {
            continue;
          }
          ++crossing;
          const bool from_input =
              step.operation == Operation::send && step.src.buffer == Buffer::input;
          const Slice& kept = step.operation == Operation::send ? step.src : step.dst;
          const std::int64_t chunk = kept.offset + (from_input ? r * k : 0);
          const std::size_t tree = trees_of[static_cast<std::size_t>(chunk)];
          const auto& used = found->second;
          const auto rail = std::distance(used.begin(), used.find(wired.nic_of(tree, to)));
          EXPECT_EQ(block.channel % std::ssize(used), rail);
        }
      }
    }
    EXPECT_GT(crossing, 20u);
  }
}

TEST(Rails, WithoutSeveralNicsNothingChanges) {
  std::mt19937 random(4);
  const auto trees = random_trees(kRanks, 3, roots_of(Collective::allgather, kRanks, 0), random);
  const Wired wired = wire(trees, 1, random);
  const auto with = lowered_right(allgather_of(wired, 3), {.boxes = boxes()}, 1);
  const auto without = lowered_right(allgather_of(wired, 3), {}, 1);
  ASSERT_EQ(with.channels, without.channels);
  for (std::size_t r = 0; r < kRanks; ++r) {
    const auto& a = with.programs[Rank(r)].threadblocks;
    const auto& b = without.programs[Rank(r)].threadblocks;
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].channel, b[i].channel);
  }
}

// One tree through each of two NICs, to the same rank: two channels, though one would do.
TEST(Rails, EvenTheFewestThreadblocksUseEveryNic) {
  std::vector<ParentTree> trees;
  for (int i = 0; i < 2; ++i) trees.push_back(star(kRanks, 0));
  std::mt19937 random(0);
  Wired wired;
  do {  // until both NICs are used towards rank 2
    wired = wire(trees, 2, random);
  } while (wired.nic_of(0, 2) == wired.nic_of(1, 2));
  const auto broadcast = collective_of(Collective::broadcast, 2, wired.forest, wired.forest);
  const LowerOptions merge{.threadblocks = ThreadblockUse::merge};
  const auto channels_to = [&](const LowerOptions& options) {
    std::set<std::int32_t> channels;
    const auto schedule = lowered_right(broadcast, options, 2);
    for (const auto& block : schedule.programs[Rank(0)].threadblocks) {
      if (block.send_peer == Rank(2)) channels.insert(block.channel);
    }
    return channels;
  };
  EXPECT_THAT(channels_to(merge), ElementsAre(0));
  LowerOptions with = merge;
  with.boxes = boxes();
  EXPECT_THAT(channels_to(with), ElementsAre(0, 1));
}

// Links from GPU to GPU across boxes are no NICs.
TEST(Rails, DirectLinksAreNone) {
  std::vector<ParentTree> trees = {star(kRanks, 0, 2)};
  const Forest forest = make_forest(kRanks, trees);
  const auto broadcast = collective_of(Collective::broadcast, 2, forest, forest);
  const auto schedule =
      lowered_right(broadcast, {.threadblocks = ThreadblockUse::merge, .boxes = boxes()}, 2);
  EXPECT_EQ(schedule.channels, 1);
}

// GPUs that are on several switches without NICs between: each such link is one.
TEST(Rails, SwitchesOutsideTheBoxStandForNics) {
  RouteTable table(std::vector<NodeId>{NodeId(0), NodeId(1)});
  std::vector<Route> routes;
  for (int i = 0; i < 2; ++i) {
    const auto leaf = table.add_segment(std::array{NodeId(2 + i)});
    routes.emplace_back();
    routes.push_back({table.extend(PrefixId(0), leaf), table.add_segment(std::array{NodeId(1)})});
  }
  const Forest forest(std::move(table), {{Rank(0), 1, 1}, {Rank(0), 1, 1}}, std::move(routes));
  LowerOptions options{.threadblocks = ThreadblockUse::merge};
  for (const int box : {0, 1, -1, -1}) options.boxes.push_back(box);
  const auto schedule =
      lowered_right(collective_of(Collective::broadcast, 2, forest, forest), options, 2);
  EXPECT_EQ(schedule.channels, 2);
}

}  // namespace
}  // namespace forestcoll::testing
