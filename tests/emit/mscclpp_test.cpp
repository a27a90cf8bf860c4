// Execution plans of MSCCL++ from forests of any shape: the verifier accepts them, an executor in
// miniature gets the right numbers, and what does not fit is refused with the limit.
#include <gtest/gtest.h>

#include <algorithm>

#include "audit/plan/plan_executor.hpp"
#include "audit/random_forest.hpp"
#include "forest/route_table.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/forests.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "support/explain.hpp"

namespace forestcoll {
namespace {

using audit_test::execute_plan;
using audit_test::Outcome;
using audit_test::random_collective;
using test::explain;

IdVector<Rank, std::int32_t> boxes_of(int n, int per_box) {
  IdVector<Rank, std::int32_t> boxes(static_cast<std::size_t>(n), 0);
  for (int r = 0; r < n; ++r) boxes[Rank(r)] = per_box > 0 ? r / per_box : -1;
  return boxes;
}

// As trees come, in several threadblocks, in several parts for each; with phases apart.
PlanShape some_shape(int number) {
  const bool are_cut = number % 4 != 0;
  return {.threadblocks = are_cut ? 3 * number : 1,
          .parts = are_cut ? number % 4 : 1,
          .pipeline_depth = 1 + number % 4};
}

TEST(MscclppLong, PlansOfRandomForestsAreRight) {
  std::mt19937_64 random(1);
  int runs = 0, executed = 0;
  for (int round = 0; round < 12; ++round) {
    for (const Collective collective : {Collective::allreduce, Collective::allgather,
                                        Collective::reduce_scatter, Collective::broadcast}) {
      for (const bool in_place : {true, false}) {
        const int n = 2 + static_cast<int>(random() % 7);
        const int k = 1 + static_cast<int>(random() % 4);
        const auto forest = random_collective(collective, n, k, round % 4 == 3, random);
        PlanOptions options;
        options.in_place = in_place;
        options.max_threadblocks = round % 3 == 0 ? 4 : 108;
        options.shape = some_shape(round);
        const auto plan = lower_to_plan(forest, boxes_of(n, round % 5), options);
        if (!plan) {
          EXPECT_EQ(plan.errors()[0].kind, info_of(*plan.errors()[0].code).kind);
          continue;
        }
        const std::string text = to_mscclpp_json(*plan, "test");
        EXPECT_EQ(text,
                  to_mscclpp_json(*lower_to_plan(forest, boxes_of(n, round % 5), options), "test"));
        const auto verdict = verify(text, "plan.json", nullptr, {});
        ASSERT_TRUE(verdict.has_value()) << to_string(verdict.errors()[0]);
        EXPECT_TRUE(verdict->ok) << n << " " << k << " " << to_string(collective) << in_place
                                 << "\n"
                                 << explain(*verdict);
        if (n <= 4 && round % 3 != 1) {
          EXPECT_EQ(
              execute_plan(nlohmann::json::parse(text), 1, forest.root ? forest.root->value : 0),
              Outcome::right);
          ++executed;
        }
        EXPECT_EQ(verdict->root, forest.root);
        EXPECT_LE(verdict->steps, 64);
        EXPECT_LE(verdict->threadblocks, options.max_threadblocks);
        ++runs;
      }
    }
  }
  EXPECT_GT(runs, 80);
  EXPECT_GT(executed, 10);
}

// Whether others reach input or output, or ports send from there.
bool names_the_callers(const nlohmann::json& plan) {
  for (const auto& gpu : plan["gpus"]) {
    for (const auto& buffer : gpu["remote_buffers"]) {
      if (buffer["type"] != "s") return true;
    }
    for (const auto& channel : gpu["channels"]) {
      if (channel["channel_type"] == "switch" && channel["buffer_type"] != "s") return true;
    }
  }
  return plan.contains("comment");
}

TEST(MscclppLong, PlansForAnyBuffersAreRightAndNameScratchAlone) {
  std::mt19937_64 random(2);
  int executed = 0;
  for (int round = 0; round < 4; ++round) {
    for (const Collective collective : {Collective::allreduce, Collective::allgather,
                                        Collective::reduce_scatter, Collective::broadcast}) {
      const int n = 2 + static_cast<int>(random() % 3);
      const auto forest = random_collective(collective, n, 1 + round % 3, false, random);
      PlanOptions options;
      options.in_place = round % 2 == 0;
      options.any_buffers = true;
      options.shape = some_shape(round);
      const auto plan = lower_to_plan(forest, boxes_of(n, round % 3), options);
      ASSERT_TRUE(plan) << to_string(plan.errors()[0]);
      const std::string text = to_mscclpp_json(*plan, "test");
      const auto parsed = nlohmann::json::parse(text);
      EXPECT_FALSE(names_the_callers(parsed)) << text;
      const auto verdict = verify(text, "plan.json", nullptr, {});
      ASSERT_TRUE(verdict.has_value()) << to_string(verdict.errors()[0]);
      EXPECT_TRUE(verdict->ok) << n << " " << to_string(collective) << "\n" << explain(*verdict);
      EXPECT_EQ(execute_plan(parsed, 1, forest.root ? forest.root->value : 0), Outcome::right);
      ++executed;
    }
  }
  EXPECT_EQ(executed, 16);
}

// Every threadblock of a box adds up for every root, as much as the others.
TEST(Mscclpp, PartsOfAllRootsShareThreadblocks) {
  CollectiveForest forest;
  forest.collective = Collective::reduce_scatter;
  forest.reduce = testing::make_forest(4, {testing::star(4, 0, 1), testing::star(4, 1, 1),
                                           testing::star(4, 2, 1), testing::star(4, 3, 1)})
                      .reversed();
  PlanOptions options;
  options.shape = {.threadblocks = 8, .parts = 4};
  const auto plan = lower_to_plan(forest, boxes_of(4, 4), options);
  ASSERT_TRUE(plan) << to_string(plan.errors().front());
  for (const PlanGpu& gpu : plan->gpus) {
    EXPECT_EQ(gpu.input_chunks, 32);
    ASSERT_EQ(gpu.threadblocks.size(), 8U);
    for (const PlanThreadblock& block : gpu.threadblocks) {
      EXPECT_EQ(std::ranges::count(block.loop, PlanOperation::Kind::reduce, &PlanOperation::kind),
                1);
    }
  }
}

// The sum's way back is another threadblock's, but at the root.
TEST(Mscclpp, LevelsMayHaveTheirOwnThreadblocks) {
  CollectiveForest forest;
  forest.collective = Collective::allreduce;
  forest.broadcast = testing::make_forest(3, {testing::star(3, 0, 1)});
  forest.reduce = forest.broadcast->reversed();
  forest.weight = IdVector<Rank, std::int64_t>(3, 0);
  forest.weight[Rank(0)] = 1;
  PlanOptions options;
  for (const std::int32_t depth : {1, 2, 3, 9}) {
    options.shape.pipeline_depth = depth;
    const auto plan = lower_to_plan(forest, boxes_of(3, 3), options);
    ASSERT_TRUE(plan) << to_string(plan.errors().front());
    EXPECT_EQ(plan->gpus[Rank(0)].threadblocks.size(), 1U);
    EXPECT_EQ(plan->gpus[Rank(1)].threadblocks.size(), depth > 1 ? 2U : 1U);
    EXPECT_EQ(execute_plan(nlohmann::json::parse(to_mscclpp_json(*plan, "levels")), 5),
              Outcome::right);
  }
}

// A root hears of as many partial sums as it tells of the sum: in a pipeline those are 30 channels.
TEST(Mscclpp, PipelinesAreJoinedWhereTheyHaveTooManyChannels) {
  constexpr int kRanks = 16;
  const auto forest = testing::shaped(Collective::allreduce, kRanks, 1, testing::star);
  PlanOptions options;
  options.shape.threadblocks = 64;
  options.shape.pipeline_depth = 3;
  const auto plan = lower_to_plan(forest, boxes_of(kRanks, kRanks), options);
  ASSERT_TRUE(plan) << to_string(plan.errors().front());
  const auto verdict = verify(to_mscclpp_json(*plan, "stars"), "plan.json", nullptr, {});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok) << explain(*verdict);
}

// Of an allreduce nobody owns a chunk: a root of weight w has w times as many, one of 0 none.
TEST(Mscclpp, RootsOfAnAllreduceMayHaveUnequalShares) {
  CollectiveForest forest;
  forest.collective = Collective::allreduce;
  forest.broadcast = testing::make_forest(3, {testing::star(3, 0, 3), testing::star(3, 2, 1)});
  forest.reduce = forest.broadcast->reversed();
  forest.weight = IdVector<Rank, std::int64_t>(3, 0);
  forest.weight[Rank(0)] = 3;
  forest.weight[Rank(2)] = 1;
  for (const bool in_place : {true, false}) {
    PlanOptions options;
    options.in_place = in_place;
    const auto plan = lower_to_plan(forest, boxes_of(3, 3), options);
    ASSERT_TRUE(plan) << to_string(plan.errors().front());
    EXPECT_EQ(plan->gpus[Rank(1)].input_chunks, 4);
    const std::string text = to_mscclpp_json(*plan, "unequal");
    const auto verdict = verify(text, "plan.json", nullptr, {});
    ASSERT_TRUE(verdict.has_value());
    EXPECT_TRUE(verdict->ok) << explain(*verdict);
    EXPECT_EQ(execute_plan(nlohmann::json::parse(text), 5), Outcome::right);
  }
}

void expect_unequal_shares(int n, int rounds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> shares;
    for (int r = 0; r < n; ++r) shares.push_back(1 + static_cast<int>(random() % 3));
    shares.back() = 4;
    const auto collective = round % 2 == 0 ? Collective::allgather : Collective::reduce_scatter;
    const auto forest = random_collective(collective, n, 1 + round % 2, false, random, shares);
    for (const bool in_place : {true, false}) {
      PlanOptions options;
      options.in_place = in_place;
      const auto plan = lower_to_plan(forest, boxes_of(n, 2), options);
      ASSERT_TRUE(plan) << to_string(plan.errors().front());
      for (int r = 0; r < n; ++r) {
        const PlanGpu& gpu = plan->gpus[Rank(r)];
        const std::int64_t own = forest.k * shares[static_cast<std::size_t>(r)];
        EXPECT_EQ(collective == Collective::allgather ? gpu.input_chunks : gpu.output_chunks, own);
      }
      const std::string text = to_mscclpp_json(*plan, "unequal");
      const auto verdict = verify(text, "plan.json", nullptr, {});
      ASSERT_TRUE(verdict.has_value());
      EXPECT_TRUE(verdict->ok) << explain(*verdict);
      ASSERT_FALSE(verdict->conditions.empty());
      EXPECT_NE(verdict->conditions.back().find("the part of the data that the file gives it"),
                std::string::npos);
      EXPECT_NE(verdict->usable_counts.find("whole buffers"), std::string::npos);
      EXPECT_EQ(execute_plan(nlohmann::json::parse(text), 3), Outcome::right);
    }
  }
}

TEST(Mscclpp, RanksMayOwnUnequalShares) {
  expect_unequal_shares(2, 4, 21);
}
// Of more, there are many orders to try.
TEST(MscclppLong, RanksMayOwnUnequalShares) {
  expect_unequal_shares(3, 4, 22);
  expect_unequal_shares(4, 2, 23);
}

// More arrive at once than one operation adds: the sum so far is read again.
TEST(Mscclpp, WideSumsTakeSeveralOperations) {
  const int n = 12;
  for (const bool in_place : {true, false}) {
    PlanOptions options;
    options.in_place = in_place;
    const auto plan = lower_to_plan(
        testing::shaped(Collective::reduce_scatter, n, 1, testing::star), boxes_of(n, n), options);
    ASSERT_TRUE(plan) << to_string(plan.errors()[0]);
    const std::string text = to_mscclpp_json(*plan, "test");
    const auto verdict = verify(text, "plan.json", nullptr, {});
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(verdict->ok) << explain(*verdict);
    for (const auto& gpu : plan->gpus) {
      std::size_t sums = 0;
      for (const auto& block : gpu.threadblocks) {
        for (const auto& operation : block.loop) {
          sums += operation.kind == PlanOperation::Kind::reduce ? 1 : 0;
        }
      }
      EXPECT_EQ(sums, 2U);
    }
  }
}

TEST(Mscclpp, BoxesDecideTheChannels) {
  std::mt19937_64 random(2);
  const auto forest = random_collective(Collective::allreduce, 4, 1, false, random);
  const auto text = [&](int per_box) {
    return to_mscclpp_json(*lower_to_plan(forest, boxes_of(4, per_box), {}), "test");
  };
  EXPECT_EQ(text(4).find("\"port\""), std::string::npos);
  EXPECT_EQ(text(1).find("\"memory\""), std::string::npos);
  EXPECT_EQ(text(0), text(1));  // nothing is known to share a box
  EXPECT_NE(text(2).find("\"memory\""), std::string::npos);
  EXPECT_NE(text(2).find("\"port\""), std::string::npos);
}

// The executor sends from the beginning of the allocation that holds a buffer.
TEST(Mscclpp, SaysWherePortsSendFrom) {
  const auto comment = [](Collective collective, int per_box) {
    const auto forest = testing::shaped(collective, 4, 1, testing::star);
    const auto plan = lower_to_plan(forest, boxes_of(4, per_box), {});
    const std::string text = to_mscclpp_json(*plan, "test");
    const auto verdict = verify(text, "plan.json", nullptr, {});
    const bool conditional =
        std::ranges::any_of(verdict->conditions, [](const std::string& condition) {
          return condition.find("beginning of their allocations") != std::string::npos;
        });
    const bool commented = nlohmann::json::parse(text).contains("comment");
    EXPECT_EQ(conditional, commented);
    return commented;
  };
  EXPECT_TRUE(comment(Collective::allreduce, 2));
  EXPECT_TRUE(comment(Collective::allgather, 1));
  EXPECT_FALSE(comment(Collective::allreduce, 4));
}

// Offsets have 32 bits: the largest buffer, which may be the scratch, ends the range of sizes.
TEST(Mscclpp, LargestMessageFitsTheOffsets) {
  // All data goes through rank 0, which gathers 2 sums for each of the others and 3 of its own.
  std::vector<testing::ParentTree> trees;
  for (int root = 0; root < 4; ++root) {
    testing::ParentTree tree = testing::star(4, 0);
    tree.root = root;
    tree.parents[0] = root;
    tree.parents[static_cast<std::size_t>(root)] = -1;
    trees.push_back(tree);
  }
  const Forest forest = testing::make_forest(4, trees);
  const auto through_one = testing::collective_of(Collective::allreduce, 1, forest, forest, 0);
  const auto plan = lower_to_plan(through_one, boxes_of(4, 4), {});
  ASSERT_TRUE(plan) << to_string(plan.errors()[0]);
  EXPECT_EQ(plan->gpus[Rank(0)].scratch_chunks, 9);
  EXPECT_EQ(plan->max_bytes, UINT32_MAX / 9 / 16 * 16 * 4);
  const auto verdict = verify(to_mscclpp_json(*plan, "test"), "plan.json", nullptr, {});
  EXPECT_TRUE(verdict->ok) << explain(*verdict);
  ASSERT_EQ(verdict->conditions.size(), 1U);  // of memory channels
  EXPECT_NE(verdict->conditions[0].find("equally far into"), std::string::npos);
  PlanOptions options;
  options.max_bytes = plan->max_bytes;
  EXPECT_TRUE(lower_to_plan(through_one, boxes_of(4, 4), options));
  ++*options.max_bytes;
  const auto refused = lower_to_plan(through_one, boxes_of(4, 4), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors()[0].code, Code::T04);
  EXPECT_NE(refused.errors()[0].remedy.find(std::to_string(plan->max_bytes)), std::string::npos);
  const auto star = lower_to_plan(testing::shaped(Collective::allreduce, 4, 1, testing::star),
                                  boxes_of(4, 4), {});
  EXPECT_EQ(star->max_bytes, std::int64_t{1} << 31);
}

// MSCCL++ reads it as an int.
TEST(Mscclpp, SmallestMessageIsBelow2GiB) {
  const auto forest = testing::shaped(Collective::allreduce, 4, 1, testing::star);
  PlanOptions options;
  options.min_bytes = std::int64_t{1} << 31;
  options.max_bytes = std::int64_t{3} << 30;
  const auto plan = lower_to_plan(forest, boxes_of(4, 4), options);
  ASSERT_TRUE(plan) << to_string(plan.errors()[0]);
  const std::string text = to_mscclpp_json(*plan, "test");
  EXPECT_NE(text.find("\"min_message_size\":2147483647,"), std::string::npos);
  EXPECT_TRUE(verify(text, "plan.json", nullptr, {})->ok);
  ++options.min_bytes;
  const auto refused = lower_to_plan(forest, boxes_of(4, 4), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors()[0].code, Code::T04);
}

TEST(Mscclpp, TextHasWhatTheExecutorReads) {
  std::mt19937_64 random(3);
  const auto forest = random_collective(Collective::reduce_scatter, 4, 2, false, random);
  PlanOptions options;
  options.in_place = false;
  options.min_bytes = 1024;
  options.max_bytes = 4096;
  const auto json = nlohmann::json::parse(
      to_mscclpp_json(*lower_to_plan(forest, boxes_of(4, 2), options), "a \"name\""));
  EXPECT_EQ(json["name"], "a \"name\"");
  EXPECT_EQ(json["collective"], "reducescatter");
  EXPECT_EQ(json["protocol"], "Simple");
  EXPECT_EQ(json["inplace"], false);
  EXPECT_EQ(json["buffer_alignment"], 16);
  EXPECT_EQ(json["min_message_size"], 1024);
  EXPECT_EQ(json["max_message_size"], 4096);
  EXPECT_EQ(json["gpus"].size(), 4U);
  EXPECT_EQ(json["gpus"][2]["input_chunks"], 8);
  EXPECT_EQ(json["gpus"][2]["output_chunks"], 2);
  for (const auto& tb : json["gpus"][0]["threadblocks"]) {
    for (const auto& op : tb["ops"]) {
      if (op["name"] != "pipeline") continue;
      EXPECT_EQ(op["iter_context"]["unit_size"], PlanShape{}.unit_bytes);
      for (const auto& inner : op["ops"]) {
        if (inner["name"] == "re") {
          EXPECT_EQ(inner["reduce_op"], "sum");
        }
      }
    }
  }
}

std::string refusal(const CollectiveForest& forest, int per_box, int threadblocks) {
  PlanOptions options;
  options.max_threadblocks = threadblocks;
  const auto n = static_cast<int>(forest.reduce ? forest.reduce->rank_count()
                                                : forest.broadcast->rank_count());
  const auto plan = lower_to_plan(forest, boxes_of(n, per_box), options);
  if (plan) return "fits";
  EXPECT_EQ(plan.errors()[0].kind, info_of(*plan.errors()[0].code).kind);
  EXPECT_FALSE(plan.errors()[0].remedy.empty());
  return to_string(plan.errors()[0]);
}

TEST(Mscclpp, WhatDoesNotFitIsRefused) {
  std::mt19937_64 random(4);
  const auto reduce = random_collective(Collective::reduce, 3, 1, false, random);
  EXPECT_NE(refusal(reduce, 3, 108).find("T06"), std::string::npos);
  // Chains over 8 ranks, all 64 trees in one threadblock: a level has new work each time.
  const auto chains = random_collective(Collective::allreduce, 10, 6, true, random);
  EXPECT_NE(refusal(chains, 10, 1).find("T0"), std::string::npos);
  EXPECT_EQ(refusal(chains, 10, 108), "fits");
  // A star of 20 points has more channels than a threadblock holds.
  CollectiveForest star = random_collective(Collective::broadcast, 2, 1, false, random);
  RouteTable table([] {
    std::vector<NodeId> ranks;
    for (int r = 0; r < 20; ++r) ranks.emplace_back(r);
    return ranks;
  }());
  std::vector<Route> routes(20);
  for (int r = 1; r < 20; ++r) {
    routes[static_cast<std::size_t>(r)] = {PrefixId(0), table.add_segment(std::array{NodeId(r)})};
  }
  star.root = Rank(0);
  star.broadcast = Forest(table, {{Rank(0), 1, 1}}, routes);
  EXPECT_NE(refusal(star, 20, 108).find("a tree of rank 0 joins rank 0 to 19 others of its box"),
            std::string::npos);
  EXPECT_NE(refusal(star, 1, 108).find("of other boxes"), std::string::npos);
  const auto idle = random_collective(Collective::allgather, 3, 1, false, random, {1, 0, 2});
  EXPECT_NE(refusal(idle, 3, 108).find("no rank without data, as rank 1 is"), std::string::npos);
  EXPECT_NE(refusal(idle, 3, 108).find("T09"), std::string::npos);
}

}  // namespace
}  // namespace forestcoll
