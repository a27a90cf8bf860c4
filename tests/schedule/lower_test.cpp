// Lowered schedules do what their collective says, in the runtime of executor.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "audit/random_forest.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/lowered.hpp"
#include "schedule/msccl/fusion.hpp"
#include "schedule/msccl/messages.hpp"
#include "schedule/msccl/waits.hpp"

namespace forestcoll::testing {
namespace {

constexpr unsigned kSeeds = 7;

Schedule expect_right(const CollectiveForest& forest, std::int32_t max_threadblocks = 108,
                      unsigned seeds = kSeeds) {
  return lowered_right(forest, {.target = "azure", .max_threadblocks = max_threadblocks}, seeds);
}

TEST(LowerLong, AllCollectivesOnShapes) {
  for (const Collective collective : all_collectives()) {
    for (const int n : {2, 3, 5, 8}) {
      for (const std::int64_t k : {1, 4}) {
        expect_right(shaped(collective, n, k, star, n - 1));
        expect_right(shaped(collective, n, k, path, n - 1));
        expect_right(shaped(collective, n, k, binary, n - 1));
      }
    }
  }
}

TEST(LowerLong, RandomForests) {
  std::mt19937 random(20240607);
  for (int round = 0; round < 60; ++round) {
    for (const Collective collective : all_collectives()) {
      const int n = 2 + below(random, 6);
      const std::int64_t k = 1 + below(random, 6);
      // The phases of allreduce cut the chunks differently.
      expect_right(random_forest(collective, n, k, random), 108, 4);
    }
  }
}

// What is refused for its steps before any lane is placed would have too many.
TEST(Lower, NoProgramHasFewerStepsThanAreCountedBefore) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    for (const Collective collective : all_collectives()) {
      const int n = 2 + below(random, 6);
      const auto roots = roots_of(collective, n, 0);
      const Forest reduce = make_forest(n, random_trees(n, 2, roots, random));
      const Forest broadcast = make_forest(n, random_trees(n, 2, roots, random));
      const CollectiveForest forest = collective_of(collective, 2, reduce, broadcast, 0);
      const auto messages = schedule::order_messages(forest, {});
      const schedule::Waits waits(messages, static_cast<std::size_t>(n));
      const auto least = schedule::fewest_steps(messages, waits, static_cast<std::size_t>(n), true);
      const auto apart =
          schedule::fewest_steps(messages, waits, static_cast<std::size_t>(n), false);
      LowerOptions options;
      options.threadblocks = below(random, 2) == 0 ? ThreadblockUse::merge : ThreadblockUse::spread;
      const auto made = lower(forest, options);
      ASSERT_TRUE(made);
      std::int64_t all = 0;
      for (int r = 0; r < n; ++r) {
        std::int64_t steps = 0;
        for (const Threadblock& block : made->programs[Rank(r)].threadblocks) {
          steps += std::ranges::count_if(block.steps, [](const Step& step) {
            return sends(step.operation) || receives(step.operation);
          });
        }
        EXPECT_GE(steps, least[Rank(r)]) << "round " << round;
        EXPECT_LE(steps, apart[Rank(r)]) << "round " << round;
        all += apart[Rank(r)];
      }
      EXPECT_EQ(all, 2 * std::ssize(messages));
    }
  }
}

TEST(LowerLong, MultiplicitiesBeyondOneStep) {
  std::mt19937 random(7);
  for (const Collective collective : all_collectives()) {
    for (const std::int64_t k : {71, 72, 200}) {
      const auto roots = roots_of(collective, 3, 1);
      const Forest reduce = make_forest(3, random_trees(3, k, roots, random));
      expect_right(collective_of(collective, k, reduce, reduce, 1), 108, 2);
    }
  }
}

TEST(Lower, SplitsAboveTheLargestCount) {
  const auto schedule = expect_right(shaped(Collective::allgather, 2, 300, path));
  EXPECT_EQ(steps_of(schedule, Operation::send), 10u);  // 71 four times, and 16, from either side
  EXPECT_EQ(steps_of(schedule, Operation::recv), 10u);
}

// The budget of threadblocks is kept: separate, joined where it must be, spread where it can be.
TEST(LowerLong, FitsTheThreadblocksThatAreAllowed) {
  std::mt19937 random(99);
  const int n = 6;
  for (const Collective collective : all_collectives()) {
    const auto roots = roots_of(collective, n, 2);
    const auto trees = random_trees(n, 6, roots, random);
    const auto forest =
        collective_of(collective, 6, make_forest(n, trees), make_forest(n, trees), 2);
    std::int32_t fewest = 0;
    for (std::int32_t limit = 1; limit <= 40; ++limit) {
      const auto schedule = lower(forest, {.target = "azure", .max_threadblocks = limit});
      if (!schedule) {
        EXPECT_EQ(schedule.errors().front().code, Code::T01);
        EXPECT_EQ(fewest, 0) << "fits in fewer";
        continue;
      }
      if (fewest == 0) fewest = limit;
      expect_right(forest, limit, 3);
    }
    EXPECT_GT(fewest, 0);
    EXPECT_LE(fewest, n - 1 + 1) << "sending and receiving share threadblocks";
  }
}

TEST(Lower, JoinsSendersAndReceiversOnlyWhereItMust) {
  const auto forest = shaped(Collective::allreduce, 4, 1, star);
  const auto wide = expect_right(forest, 108);
  const auto tight = expect_right(forest, 3);
  EXPECT_EQ(tight.max_threadblocks(), 3);
  EXPECT_GE(wide.max_threadblocks(), 6);
  for (const auto& block : wide.programs[Rank(0)].threadblocks) {
    EXPECT_FALSE(block.send_peer.valid() && block.recv_peer.valid());
  }
}

TEST(Lower, WideConnectionsGetSeveralChannels) {
  std::vector<ParentTree> trees;
  for (int i = 0; i < 8; ++i) {
    trees.push_back(path(2, 0));
    trees.push_back(path(2, 1));
  }
  const Forest forest = make_forest(2, trees);
  const auto gathers = collective_of(Collective::allgather, 8, forest, forest);
  EXPECT_EQ(expect_right(gathers).channels, 8);
  EXPECT_EQ(expect_right(gathers, 8).channels, 4);
  EXPECT_EQ(expect_right(gathers, 2).channels, 1);
}

TEST(Lower, NoChannelsThatDoNotHelp) {
  // Messages of 3, 1 and 1 chunks: a third channel would leave the 3 as they are.
  std::vector<ParentTree> trees = {path(2, 0, 3), path(2, 0), path(2, 0),
                                   path(2, 1, 3), path(2, 1), path(2, 1)};
  const Forest forest = make_forest(2, trees);
  const auto schedule = expect_right(collective_of(Collective::allgather, 5, forest, forest));
  EXPECT_EQ(schedule.channels, 2);
}

TEST(Lower, FixedReductionOrder) {
  std::mt19937 random(3);
  const auto trees = random_trees(6, 2, roots_of(Collective::allreduce, 6, 0), random);
  const Forest forest = make_forest(6, trees);
  const auto schedule =
      lower(collective_of(Collective::allreduce, 2, forest, forest), LowerOptions());
  ASSERT_TRUE(schedule);
  ASSERT_EQ(run_in_many_ways(*schedule, kSeeds), "");
  const audit_test::Algo algo = to_algo(*schedule);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto sums = audit_test::Executor(algo, true, 1, 2, seed).sums_in_order();
    for (std::size_t r = 1; r < 6; ++r) EXPECT_EQ(sums[r], sums[0]) << "rank " << r;
  }
}

// A sum's order may not depend on timing: the same expression in every run.
TEST(Lower, ReductionOrderDoesNotDependOnTiming) {
  const auto schedule = lower(shaped(Collective::reduce, 7, 1, star), LowerOptions{"azure", 108});
  ASSERT_TRUE(schedule);
  for (const auto& block : schedule->programs[Rank(0)].threadblocks) {
    ASSERT_EQ(block.steps.size(), 1u);
    EXPECT_EQ(block.steps[0].operation, Operation::recv_reduce_copy);
  }
  std::size_t chained = 0;
  for (const auto& block : schedule->programs[Rank(0)].threadblocks) {
    chained += block.steps[0].depends_on.has_value();
  }
  EXPECT_EQ(chained, 5u) << "six additions in a chain";
}

TEST(Lower, PhasesOfDifferentHeightsOverlap) {
  // The last rank's tree is a path through all before it, the others are binary: their broadcasts
  // need not wait for the path.
  std::vector<ParentTree> trees;
  for (int root = 0; root < 7; ++root) trees.push_back(binary(8, root));
  trees.push_back({7, 1, {1, 2, 3, 4, 5, 6, 7, -1}});
  const Forest forest = make_forest(8, trees);
  LowerOptions options;
  options.forward = false;
  options.threadblocks = ThreadblockUse::merge;
  const auto schedule =
      lowered_right(collective_of(Collective::allreduce, 1, forest, forest), options, kSeeds);
  // On the joined threadblocks, some copy is received before the last reduction has been sent.
  bool overlaps = false;
  for (const auto& program : schedule.programs) {
    for (const auto& block : program.threadblocks) {
      bool copied = false;
      for (const auto& step : block.steps) {
        copied |= step.operation == Operation::recv;
        overlaps |= copied && step.operation == Operation::recv_reduce_copy;
      }
    }
  }
  EXPECT_TRUE(overlaps);
}

TEST(Lower, SeveralDependenciesTakeNops) {
  // One broadcast tree of two chunks after two reduce trees of one: the root waits for both.
  const Forest reduce = make_forest(3, {star(3, 0), path(3, 0), star(3, 1, 2), star(3, 2, 2)});
  const Forest broadcast = make_forest(3, {star(3, 0, 2), star(3, 1, 2), star(3, 2, 2)});
  const auto schedule = expect_right(collective_of(Collective::allreduce, 2, reduce, broadcast));
  EXPECT_GT(steps_of(schedule, Operation::nop), 0u);
}

TEST(Lower, BuffersOfEachCollective) {
  struct Row {
    Collective collective;
    std::int64_t chunks, input, output;
  };
  for (const Row& row :
       {Row{Collective::allgather, 12, 3, 12}, Row{Collective::reduce_scatter, 12, 12, 3},
        Row{Collective::allreduce, 12, 12, 12}, Row{Collective::broadcast, 3, 3, 3},
        Row{Collective::reduce, 3, 3, 3}}) {
    const auto schedule = expect_right(shaped(row.collective, 4, 3, binary));
    EXPECT_EQ(schedule.chunks, row.chunks);
    EXPECT_EQ(schedule.k, 3);
    EXPECT_TRUE(schedule.in_place);
    EXPECT_FALSE(schedule.out_of_place);
    for (const auto& program : schedule.programs) {
      EXPECT_EQ(program.input_chunks, row.input);
      EXPECT_EQ(program.output_chunks, row.output);
      EXPECT_EQ(program.scratch_chunks, 0);
    }
  }
}

TEST(Lower, OneRankHasNothingToDo) {
  const auto schedule = expect_right(shaped(Collective::allreduce, 1, 2, star));
  EXPECT_EQ(schedule.max_threadblocks(), 0);
  EXPECT_EQ(schedule.max_steps(), 0);
  EXPECT_EQ(schedule.channels, 0);
}

// 32 GPUs under one switch must fit in 64 threadblocks of 64 steps.
TEST(LowerLong, ThirtyTwoRanksFit) {
  for (const auto& shape : {star, path, binary}) {
    const auto schedule = expect_right(shaped(Collective::allreduce, 32, 2, shape), 64, 1);
    EXPECT_LE(schedule.max_threadblocks(), 64);
  }
}

// The runtime in miniature is to be trusted only if it finds what is wrong.
TEST(Executor, FindsBrokenSchedules) {
  const auto good = lower(shaped(Collective::allreduce, 4, 2, binary), LowerOptions());
  ASSERT_TRUE(good);
  ASSERT_EQ(run_in_many_ways(*good, kSeeds), "");
  int mutants = 0;
  for (int r = 0; r < 4; ++r) {
    const auto& blocks = good->programs[Rank(r)].threadblocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (std::size_t s = 0; s < blocks[b].steps.size(); ++s) {
        for (const int what : {0, 1, 2, 3}) {
          Schedule bad = *good;
          auto& steps = bad.programs[Rank(r)].threadblocks[b].steps;
          Step& step = steps[s];
          if (what == 0 && step.depends_on) {
            step.depends_on.reset();
          } else if (what == 1) {
            const bool stores =
                step.operation != Operation::send && step.operation != Operation::recv_reduce_send;
            (stores ? step.dst : step.src).offset ^= 1;
          } else if (what == 2) {
            steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(s));
          } else if (what == 3 && step.operation == Operation::recv_reduce_copy) {
            step.operation = Operation::recv;
          } else {
            continue;
          }
          ++mutants;
          EXPECT_NE(run_in_many_ways(bad, kSeeds), "")
              << "rank " << r << " threadblock " << b << " step " << s << " change " << what;
        }
      }
    }
  }
  EXPECT_GT(mutants, 100);
}

// In an allreduce nobody owns a chunk: roots may sum any number of them.
TEST(Lower, RootsOfAnAllreduceMaySumUnequalShares) {
  const std::vector<ParentTree> trees = {star(4, 0, 3), path(4, 0, 2), binary(4, 2, 1),
                                         path(4, 3, 3)};
  const Forest forest = make_forest(4, trees);
  CollectiveForest uneven = collective_of(Collective::allreduce, 1, forest, forest);
  uneven.weight = IdVector<Rank, std::int64_t>(4, 0);
  uneven.weight[Rank(0)] = 5;
  uneven.weight[Rank(2)] = 1;
  uneven.weight[Rank(3)] = 3;
  for (const char* target : {"azure", "rccl-6"}) {
    for (const auto placement : {Placement::in_place, Placement::out_of_place}) {
      for (const int instances : {1, 2}) {
        LowerOptions options{target, 64, placement};
        options.instances = instances;
        EXPECT_EQ(lowered_right(uneven, options, 3).chunks, 9 * instances);
      }
    }
  }
}

std::vector<int> random_shares(int n, std::mt19937_64& random) {
  std::vector<int> shares;
  for (int r = 0; r < n; ++r) shares.push_back(static_cast<int>(random() % 4));
  shares[random() % shares.size()] = 5;
  return shares;
}

void expect_unequal_shares(int rounds, std::size_t most_ranks) {
  std::mt19937_64 random(3);
  for (int round = 0; round < rounds; ++round) {
    const int n = 2 + static_cast<int>(random() % (most_ranks - 1));
    const auto shares = random_shares(n, random);
    const auto collective = round % 2 == 0 ? Collective::allgather : Collective::reduce_scatter;
    const auto forest =
        audit_test::random_collective(collective, n, 1 + round % 3, round % 5 == 4, random, shares);
    for (const char* target : {"azure", "rccl-5.7", "rccl-6"}) {
      for (const auto placement : {Placement::in_place, Placement::out_of_place}) {
        LowerOptions options{target, 64, placement};
        options.instances = 1 + round % 2;
        const auto schedule = lowered_right(forest, options, 3);
        EXPECT_EQ(schedule.chunks,
                  schedule.k * std::accumulate(shares.begin(), shares.end(), std::int64_t{0}));
        for (int r = 0; r < n; ++r) {
          const RankProgram& program = schedule.programs[Rank(r)];
          EXPECT_EQ(
              collective == Collective::allgather ? program.input_chunks : program.output_chunks,
              schedule.k * shares[static_cast<std::size_t>(r)]);
        }
      }
    }
  }
}

TEST(Lower, RanksMayOwnUnequalShares) {
  expect_unequal_shares(6, 4);
}
TEST(LowerLong, RanksMayOwnUnequalShares) {
  expect_unequal_shares(24, 6);
}

// The research runtime checks sizes; one name for both placements there is not.
TEST(Lower, UnequalSharesAreRefusedWhereNoCallCouldServeThem) {
  std::mt19937_64 random(4);
  for (const auto collective : {Collective::allgather, Collective::reduce_scatter}) {
    const auto forest = audit_test::random_collective(collective, 3, 1, false, random, {2, 1, 1});
    for (const LowerOptions& options :
         {LowerOptions{"msccl", 64}, LowerOptions{"azure", 64, Placement::both}}) {
      const auto refused = lower(forest, options);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.errors().front().code, Code::T09);
      EXPECT_NE(refused.errors().front().message.find("rank 0 has weight 2, rank 1 has 1"),
                std::string::npos)
          << to_string(refused.errors().front());
    }
  }
}

// Two reductions, then two broadcasts: a threadblock with one of each would be idle in between.
TEST(Lower, ThreadblocksHoldMessagesOfLikeLevels) {
  const Forest forest = make_forest(2, {path(2, 0), path(2, 0), path(2, 1), path(2, 1)});
  const auto allreduce = collective_of(Collective::allreduce, 2, forest, forest);
  const auto schedule = lowered_right(allreduce, {"azure", 4}, 3);
  EXPECT_EQ(schedule.max_threadblocks(), 4);
  for (const auto& program : schedule.programs) {
    for (const auto& block : program.threadblocks) {
      ASSERT_EQ(block.steps.size(), 2u);
      EXPECT_EQ(block.steps[0].operation, block.steps[1].operation);
    }
  }
}

// What came first is passed on while the rest is on its way; where steps are scarce, in one piece.
TEST(Lower, WideTreesGoInParts) {
  const auto largest = [](const Schedule& schedule) {
    std::int64_t most = 0;
    for (const auto& program : schedule.programs) {
      for (const auto& block : program.threadblocks) {
        for (const auto& step : block.steps) most = std::max(most, step.count);
      }
    }
    return most;
  };
  for (const Collective collective : all_collectives()) {
    LowerOptions options;
    EXPECT_EQ(largest(lowered_right(shaped(collective, 4, 10, path), options, 2)), 3);
    EXPECT_EQ(largest(lowered_right(shaped(collective, 4, 3, path), options, 2)), 3);
    options.threadblocks = ThreadblockUse::merge;
    EXPECT_EQ(largest(lowered_right(shaped(collective, 4, 10, path), options, 2)), 10);
  }
  // 33 trees are 132 parts, and 3 threadblocks take 64 steps each.
  const Forest forest = make_forest(2, std::vector<ParentTree>(33, path(2, 0, 4)));
  const auto many = collective_of(Collective::broadcast, 132, forest, forest);
  EXPECT_EQ(largest(lowered_right(many, {"azure", 2}, 2)), 4);
  EXPECT_EQ(largest(lowered_right(many, {"azure", 3}, 2)), 1);
}

}  // namespace
}  // namespace forestcoll::testing
