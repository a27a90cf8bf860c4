// What the options of lowering change: placement, instances, threadblocks, forwarding, targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "schedule/lowered.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Each;
using ::testing::Eq;

std::vector<LowerOptions> all_options() {
  std::vector<LowerOptions> all;
  for (const std::string target : {"azure", "rccl-6", "rccl-6.3", "msccl"}) {
    for (const auto placement : {Placement::in_place, Placement::out_of_place, Placement::both}) {
      if (placement == Placement::both && target == "msccl") continue;
      for (const auto use :
           {ThreadblockUse::spread, ThreadblockUse::merge, ThreadblockUse::per_tree}) {
        for (const std::int32_t instances : {1, 2}) {
          for (const bool forward : {true, false}) {
            const std::int32_t most = target.starts_with("rccl-6") ? 64 : 108;
            all.push_back({target, most, placement, use, instances, forward});
          }
        }
      }
    }
  }
  return all;
}

TEST(OptionsLong, EveryCombinationIsRight) {
  std::mt19937 random(4);
  for (const LowerOptions& options : all_options()) {
    for (const Collective collective : all_collectives()) {
      const int n = 2 + below(random, 4);
      const std::int64_t k = 1 + below(random, 2);
      const auto forest = random_forest(collective, n, k, random);
      SCOPED_TRACE(fmt::format("{} {} {} instances {} forward {} {} n {} k {}", options.target,
                               static_cast<int>(options.placement),
                               static_cast<int>(options.threadblocks), options.instances,
                               options.forward, to_string(collective), n, k));
      const auto schedule = lowered_right(forest, options, 3);
      EXPECT_EQ(schedule.in_place, options.placement != Placement::out_of_place);
      EXPECT_EQ(schedule.out_of_place, options.placement != Placement::in_place);
      EXPECT_EQ(schedule.k, k * options.instances);
    }
  }
}

// Boxes of `size` GPUs, each of which sums for those of its place in other boxes.
std::vector<ParentTree> two_level_stars(int boxes, int size) {
  std::vector<ParentTree> trees;
  for (int root = 0; root < boxes * size; ++root) {
    ParentTree tree{root, 1, {}};
    for (int v = 0; v < boxes * size; ++v) {
      const int in_its_box = v / size * size + root % size;
      tree.parents.push_back(v == root ? -1 : v == in_its_box ? root : in_its_box);
    }
    trees.push_back(std::move(tree));
  }
  return trees;
}

CollectiveForest allreduce_of(int n, const std::vector<ParentTree>& trees) {
  CollectiveForest forest;
  forest.collective = Collective::allreduce;
  forest.k = 1;
  forest.reduce = make_forest(n, trees);
  forest.broadcast = make_forest(n, trees);
  return forest;
}

// What goes to another box is summed there, one after the other, before its result comes back: what
// waits so long gets a threadblock for each way before NVLink, which has more to carry, gets many.
TEST(Waiting, SumsOfOneChunkAreWaitedForOneAfterTheOther) {
  constexpr int kBoxes = 3, kSize = 4;
  const auto forest = allreduce_of(kBoxes * kSize, two_level_stars(kBoxes, kSize));
  // Both ends of three peers in the box, four each, and of two others, two each.
  LowerOptions options{.max_threadblocks = 2 * 3 * 4 + 2 * 2 * 2};
  const auto sending_to_others = [&](const Schedule& schedule) {
    std::size_t most = 0, least = 1000;
    for (int rank = 0; rank < kBoxes * kSize; ++rank) {
      std::size_t blocks = 0;
      for (const Threadblock& block : schedule.programs[Rank(rank)].threadblocks) {
        if (block.send_peer.valid() && block.send_peer.value / kSize != rank / kSize) ++blocks;
      }
      most = std::max(most, blocks);
      least = std::min(least, blocks);
    }
    return std::pair(least, most);
  };
  const std::size_t others = kBoxes - 1;
  EXPECT_EQ(sending_to_others(lowered_right(forest, options, 3)),
            std::pair(2 * others, 2 * others));
  options.waiting = 0;
  EXPECT_EQ(sending_to_others(lowered_right(forest, options, 3)).first, others);
}

TEST(Waiting, IsRightWhateverItCounts) {
  std::mt19937 random(9);
  for (int round = 0; round < 12; ++round) {
    const auto forest =
        random_forest(Collective::allreduce, 3 + below(random, 4), 1 + below(random, 2), random);
    for (const std::int32_t waiting : {0, 1, 2, 4}) {
      lowered_right(forest, {.max_threadblocks = 24, .waiting = waiting}, 3);
    }
  }
}

// Forwarding reorders steps: many forests, few threadblocks, chains in both directions.
TEST(OptionsLong, ForwardingOnManyForests) {
  std::mt19937 random(11);
  std::size_t relays = 0, turns = 0;
  for (int round = 0; round < 120; ++round) {
    for (const Collective collective : all_collectives()) {
      const int n = 3 + below(random, 5);
      const auto forest = random_forest(collective, n, 1 + below(random, 5), random);
      const auto placement = static_cast<Placement>(below(random, 3));
      const auto schedule =
          lowered_right(forest, {.placement = placement, .threadblocks = ThreadblockUse::merge}, 3);
      relays += steps_of(schedule, Operation::recv_copy_send);
      relays += steps_of(schedule, Operation::recv_reduce_send);
      turns += steps_of(schedule, Operation::recv_reduce_copy_send);
    }
  }
  EXPECT_GT(relays, 1000u);
  EXPECT_GT(turns, 50u);
}

// At a root, the last addition and the first message of the result are one step.
TEST(Options, RootsForwardSums) {
  const Forest up = make_forest(3, {star(3, 0), star(3, 1), star(3, 2)});
  const auto forest = collective_of(Collective::allreduce, 1, up, up);
  const auto merged = lowered_right(forest, {.threadblocks = ThreadblockUse::merge}, 3);
  EXPECT_GT(steps_of(merged, Operation::recv_reduce_copy_send), 0u);
  LowerOptions plain{.threadblocks = ThreadblockUse::merge};
  plain.forward = false;
  EXPECT_EQ(steps_of(lowered_right(forest, plain, 3), Operation::recv_reduce_copy_send), 0u);
}

// Sums that go once around and results that go on around: as one chain, each rank's threadblock
// would wait for the next one to receive, and that for the next, back to the first.
TEST(Options, SumsAreNotForwardedToWhereTheyCameFrom) {
  const int n = 4;
  std::vector<ParentTree> up, down;
  for (int root = 0; root < n; ++root) {
    down.push_back(path(n, root, 60));
    ParentTree back = path(n, root, 60);
    for (int i = 1; i < n; ++i) {
      back.parents[static_cast<std::size_t>((root + n - i) % n)] = (root + n - i + 1) % n;
    }
    up.push_back(back);
  }
  const auto forest =
      collective_of(Collective::allreduce, 60, make_forest(n, up), make_forest(n, down));
  const auto schedule = lowered_right(forest, {.threadblocks = ThreadblockUse::merge}, 3);
  EXPECT_EQ(schedule.max_threadblocks(), 1);
  EXPECT_EQ(steps_of(schedule, Operation::recv_reduce_copy_send), 0u);
  EXPECT_GT(steps_of(schedule, Operation::recv_reduce_send), 0u);
}

TEST(OptionsLong, LongMultiplicitiesForwarded) {
  std::mt19937 random(12);
  for (const Collective collective : all_collectives()) {
    const auto forest = shaped(collective, 5, 150, path, 2);
    for (const auto use : {ThreadblockUse::spread, ThreadblockUse::merge}) {
      lowered_right(forest, {.placement = Placement::both, .threadblocks = use}, 2);
    }
    lowered_right(forest,
                  {.target = "rccl-6.3", .max_threadblocks = 64, .placement = Placement::both}, 2);
  }
}

// A ring's threadblock receives and sends in one step; nothing else is left but its ends.
TEST(Options, RingsAreForwarded) {
  LowerOptions options;
  options.threadblocks = ThreadblockUse::merge;
  const auto gather = lowered_right(shaped(Collective::allgather, 6, 1, path), options, 3);
  EXPECT_EQ(steps_of(gather, Operation::recv_copy_send), 6u * 4);
  EXPECT_EQ(steps_of(gather, Operation::send), 6u);
  EXPECT_EQ(steps_of(gather, Operation::recv), 6u);
  EXPECT_EQ(gather.max_threadblocks(), 1);
  const auto scatter = lowered_right(shaped(Collective::reduce_scatter, 6, 1, path), options, 3);
  EXPECT_EQ(steps_of(scatter, Operation::recv_reduce_send), 6u * 4);
  EXPECT_EQ(steps_of(scatter, Operation::recv_reduce_copy), 6u);
}

TEST(Options, UnfusedHasPlainStepsOnly) {
  for (const Collective collective : all_collectives()) {
    LowerOptions options;
    options.forward = false;
    options.threadblocks = ThreadblockUse::merge;
    options.placement = Placement::out_of_place;
    const auto schedule = lowered_right(shaped(collective, 6, 2, path), options, 2);
    EXPECT_EQ(steps_of(schedule, Operation::recv_copy_send), 0u);
    EXPECT_EQ(steps_of(schedule, Operation::recv_reduce_send), 0u);
    EXPECT_EQ(steps_of(schedule, Operation::recv_reduce_copy_send), 0u);
    EXPECT_EQ(steps_of(schedule, Operation::reduce), 0u);
  }
}

TEST(Options, Rccl6AddsApart) {
  for (const Collective collective : all_collectives()) {
    const auto forest = shaped(collective, 5, 2, binary, 1);
    const auto schedule = lowered_right(forest, {.target = "rccl-6", .max_threadblocks = 64}, 3);
    EXPECT_EQ(steps_of(schedule, Operation::reduce) > 0, forest.reduce.has_value());
    // In place, scratch holds one message per receiving threadblock, however many it receives.
    for (const auto& program : schedule.programs) {
      std::int64_t adding = 0;
      for (const auto& block : program.threadblocks) {
        std::int64_t largest = 0;
        for (const auto& step : block.steps) {
          if (step.operation == Operation::reduce) largest = std::max(largest, step.count);
        }
        adding += largest;
      }
      EXPECT_EQ(program.scratch_chunks, adding);
    }
  }
}

// With both placements an addition is r, re and cpy: thirty of them do not fit 64 steps.
TEST(Options, StepsOfAdditionsForBothPlacementsAreCounted) {
  std::vector<ParentTree> trees;
  for (int i = 0; i < 30; ++i) {
    trees.push_back(star(2, 0));
    trees.push_back(star(2, 1));
  }
  const Forest forest = make_forest(2, trees);
  const auto schedule = lowered_right(collective_of(Collective::reduce_scatter, 30, forest, forest),
                                      {.target = "rccl-6.3",
                                       .max_threadblocks = 64,
                                       .placement = Placement::both,
                                       .threadblocks = ThreadblockUse::merge},
                                      2);
  EXPECT_EQ(steps_of(schedule, Operation::copy), 60u);
  EXPECT_EQ(schedule.channels, 2);
}

// Out of place, a rank's own block is copied, by a threadblock of its own while there is room.
TEST(Options, OwnBlocksAreCopied) {
  const auto forest = shaped(Collective::allgather, 4, 3, star);
  LowerOptions options{
      .target = "azure", .max_threadblocks = 7, .placement = Placement::out_of_place};
  const auto roomy = lowered_right(forest, options, 3);
  EXPECT_EQ(steps_of(roomy, Operation::copy), 4u);
  EXPECT_EQ(roomy.max_threadblocks(), 7);
  options.max_threadblocks = 6;
  EXPECT_EQ(lowered_right(forest, options, 3).max_threadblocks(), 6);
  options.threadblocks = ThreadblockUse::merge;
  EXPECT_EQ(lowered_right(forest, options, 3).max_threadblocks(), 3);
  options.placement = Placement::in_place;
  EXPECT_EQ(steps_of(lowered_right(forest, options, 3), Operation::copy), 0u);
}

// One threadblock would copy all of it, while several send a part of it each.
TEST(Options, CopiesOfARootKeepUpWithWhatItSends) {
  const auto chunks_copied = [](const Threadblock& block) {
    std::int64_t chunks = 0;
    for (const Step& step : block.steps) {
      if (step.operation == Operation::copy) chunks += step.count;
    }
    return chunks;
  };
  const auto sent = [](const Threadblock& block) {
    std::int64_t chunks = 0;
    for (const Step& step : block.steps) chunks += sends(step.operation) ? step.count : 0;
    return chunks;
  };
  std::vector<ParentTree> trees;
  for (int i = 0; i < 12; ++i) trees.push_back(path(4, 0));
  const Forest forest = make_forest(4, trees);
  const auto broadcast = collective_of(Collective::broadcast, 12, forest, forest);
  for (const auto placement : {Placement::out_of_place, Placement::both}) {
    for (const std::int32_t most : {108, 16, 13, 12}) {
      LowerOptions options{"azure", most, placement};
      const auto schedule = lowered_right(broadcast, options, 2);
      std::int64_t most_sent = 0, most_copied = 0, all = 0;
      for (const Threadblock& block : schedule.programs[Rank(0)].threadblocks) {
        most_sent = std::max(most_sent, sent(block));
        most_copied = std::max(most_copied, chunks_copied(block));
        all += chunks_copied(block);
      }
      EXPECT_EQ(all, 12);
      EXPECT_LE(most_copied, most_sent) << most;
      EXPECT_LE(schedule.max_threadblocks(), most);
    }
  }
}

TEST(Options, OneRankCopies) {
  for (const Collective collective : all_collectives()) {
    for (const auto placement : {Placement::out_of_place, Placement::both}) {
      const auto schedule =
          lowered_right(shaped(collective, 1, 72, star), {.placement = placement}, 1);
      EXPECT_EQ(steps_of(schedule, Operation::copy), 2u) << to_string(collective);
      EXPECT_EQ(schedule.channels, 1);
    }
  }
}

// Instances carry equal parts of the same trees over channels of their own.
TEST(Options, InstancesShareNoThreadblock) {
  LowerOptions options;
  options.instances = 3;
  options.threadblocks = ThreadblockUse::merge;
  const auto schedule = lowered_right(shaped(Collective::allreduce, 4, 2, star), options, 3);
  EXPECT_EQ(schedule.chunks, 4 * 2 * 3);
  EXPECT_EQ(schedule.channels, 3);
  EXPECT_EQ(schedule.max_threadblocks(), 9);
  for (const auto& program : schedule.programs) {
    for (const auto& block : program.threadblocks) {
      std::set<std::int64_t> parts;
      for (const auto& step : block.steps) {
        parts.insert(step.src.offset % 6 / 2);
        EXPECT_EQ(step.count, 2);
      }
      EXPECT_EQ(parts.size(), 1u) << "one of the three parts of every tree";
    }
  }
}

TEST(Options, MergeTakesTheFewest) {
  std::mt19937 random(5);
  const auto forest = random_forest(Collective::allreduce, 6, 3, random);
  const auto merged = lower(forest, {.threadblocks = ThreadblockUse::merge});
  ASSERT_TRUE(merged);
  const std::int32_t fewest = merged->max_threadblocks();
  EXPECT_TRUE(lower(forest, {"azure", fewest}));
  EXPECT_FALSE(lower(forest, {"azure", fewest - 1}));
}

TEST(Options, PerTreeHasOneThreadblockPerEdge) {
  LowerOptions options;
  options.threadblocks = ThreadblockUse::per_tree;
  const auto schedule = lowered_right(shaped(Collective::allreduce, 5, 2, path), options, 2);
  for (const auto& program : schedule.programs) {
    EXPECT_EQ(program.threadblocks.size(), 16u);  // 5 trees twice, two ends but at tips and roots
    for (const auto& block : program.threadblocks) EXPECT_EQ(block.steps.size(), 1u);
  }
}

// The same bits on every rank and in every run.
TEST(Options, AllRanksGetTheSameBits) {
  std::mt19937 random(8);
  for (const char* target : {"azure", "rccl-6.3"}) {
    for (const auto placement : {Placement::in_place, Placement::out_of_place, Placement::both}) {
      const auto forest = random_forest(Collective::allreduce, 6, 2, random);
      const auto schedule = lower(forest, {target, 32, placement});
      ASSERT_TRUE(schedule);
      ASSERT_EQ(run_in_many_ways(*schedule, 3), "");
      const audit_test::Algo algo = to_algo(*schedule);
      std::vector<audit_test::Executor::Value> first;
      for (unsigned seed = 0; seed < 12; ++seed) {
        for (const auto& bits :
             audit_test::Executor(algo, schedule->in_place, 1, 2, seed).sums_in_order()) {
          if (first.empty()) first = bits;
          EXPECT_EQ(bits, first) << "seed " << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace forestcoll::testing
