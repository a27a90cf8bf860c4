// Plans of several process groups at once, over relays: the verifier accepts them, an executor in
// miniature gets the right numbers, and a relay that mixes groups up is found out.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "audit/plan/plan_executor.hpp"
#include "audit/random_groups.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "support/explain.hpp"

namespace forestcoll {
namespace {

using audit_test::execute_plan;
using audit_test::Outcome;
using audit_test::RandomGroups;
using Json = nlohmann::json;

IdVector<Rank, std::int32_t> in_boxes(int n, int per_box) {
  IdVector<Rank, std::int32_t> boxes(static_cast<std::size_t>(n), 0);
  for (int r = 0; r < n; ++r) boxes[Rank(r)] = per_box > 0 ? r / per_box : -1;
  return boxes;
}

Verdict verdict_on(const std::string& text) {
  auto verdict = verify(text, "plan.json", nullptr, {});
  EXPECT_TRUE(verdict.has_value()) << to_string(verdict.errors()[0]);
  return verdict ? *std::move(verdict) : Verdict{};
}

const std::vector<Collective> kCollectives = {Collective::allgather, Collective::reduce_scatter,
                                              Collective::allreduce};

// Groups of 5 ranks: two and two with one that is in none, or two and three.
const std::vector<std::vector<std::vector<int>>> kDivisions = {
    {{3, 0}, {1, 4}}, {{0, 2}, {4, 1, 3}}, {{2, 1}}, {{4, 3, 2, 1, 0}}};

void expect_right_groups(const RandomGroups& groups, const PlanOptions& options, int per_box) {
  const auto plan = lower_to_plan(groups.forests, in_boxes(5, per_box), options);
  ASSERT_TRUE(plan) << to_string(plan.errors()[0]);
  const std::string text = to_mscclpp_json(*plan, "test");
  const auto again = lower_to_plan(groups.forests, in_boxes(5, per_box), options);
  EXPECT_EQ(text, to_mscclpp_json(*again, "test"));
  const Verdict verdict = verdict_on(text);
  EXPECT_TRUE(verdict.ok) << test::explain(verdict) << text;
  EXPECT_EQ(verdict.groups, plan->process_groups);
  EXPECT_LE(verdict.threadblocks, options.max_threadblocks);
  EXPECT_EQ(execute_plan(Json::parse(text), 2), Outcome::right) << text;
}

TEST(JointPlansLong, OfRandomGroupsWithRelaysAreRight) {
  std::mt19937_64 random(5);
  int round = 0;
  for (const auto& division : kDivisions) {
    for (const Collective collective : kCollectives) {
      for (const bool in_place : {true, false}) {
        const RandomGroups groups(collective, division, 5, round % 4 != 3, random);
        PlanOptions options;
        options.in_place = in_place;
        options.any_buffers = round % 4 < 2;
        options.max_threadblocks = round % 3 == 0 ? 6 : 108;
        options.shape = {round % 5 == 0 ? 1 : 12, 1 + round % 3, round % 2 == 0};
        expect_right_groups(groups, options, round % 4);
        ++round;
      }
    }
  }
}

// The least common multiple of 2 · 3 and 3 · 2 chunks is 6, of 2 · 2 and 3 · 1 is 12.
TEST(JointPlans, AllBuffersHaveAsManyChunks) {
  std::mt19937_64 random(6);
  for (const auto& [k, chunks] : {std::pair(std::pair(3, 2), 6), std::pair(std::pair(2, 1), 12)}) {
    RandomGroups groups(Collective::allgather, {{0, 2}, {4, 1, 3}}, 6, true, random,
                        {k.first, k.second});
    const auto plan = lower_to_plan(groups.forests, in_boxes(6, 6), {});
    ASSERT_TRUE(plan) << to_string(plan.errors()[0]);
    EXPECT_EQ(plan->gpus[Rank(0)].input_chunks, chunks / 2);
    EXPECT_EQ(plan->gpus[Rank(4)].input_chunks, chunks / 3);
    for (const PlanGpu& gpu : plan->gpus) EXPECT_EQ(gpu.output_chunks, chunks);
    EXPECT_EQ(plan->gpus[Rank(5)].input_chunks, chunks);  // in no group
    EXPECT_FALSE(plan->gpus[Rank(5)].threadblocks.empty());
  }
}

// One pair in two chunks: each rank has a part in both, which are cut until there are eight.
TEST(JointPlans, ChunksAreCutForEnoughThreadblocks) {
  std::mt19937_64 random(10);
  const RandomGroups groups(Collective::allreduce, {{0, 1}}, 2, false, random, {1});
  for (const auto& [enough, blocks, chunks] :
       {std::tuple(1, 2U, 2), std::tuple(8, 8U, 8), std::tuple(9, 8U, 8)}) {
    PlanOptions options;
    options.shape.threadblocks = enough;
    const auto plan = lower_to_plan(groups.forests, in_boxes(2, 2), options);
    ASSERT_TRUE(plan) << to_string(plan.errors()[0]);
    EXPECT_EQ(plan->gpus[Rank(0)].threadblocks.size(), blocks);
    EXPECT_EQ(plan->gpus[Rank(0)].input_chunks, chunks);
    EXPECT_TRUE(verdict_on(to_mscclpp_json(*plan, "test")).ok);
  }
}

TEST(JointPlans, TooManyChunksAreRefused) {
  std::mt19937_64 random(7);
  const RandomGroups groups(Collective::allgather, {{0, 1}, {2, 3}, {4, 5}}, 6, false, random,
                            {257, 509, 263});
  const auto plan = lower_to_plan(groups.forests, in_boxes(6, 6), {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.errors()[0].code, Code::T04);
}

// One group in the order of the ranks is a plan as ever.
TEST(JointPlans, NameGroupsWhereTheyAreNotAllRanks) {
  std::mt19937_64 random(8);
  const auto keys = [&](const std::vector<int>& group) {
    const RandomGroups groups(Collective::allreduce, {group}, 3, false, random);
    const auto plan = lower_to_plan(groups.forests, in_boxes(3, 3), {});
    return Json::parse(to_mscclpp_json(*plan, "test"));
  };
  EXPECT_FALSE(keys({0, 1, 2}).contains("process_groups"));
  EXPECT_EQ(keys({2, 0, 1})["process_groups"], Json({{2, 0, 1}}));
  EXPECT_EQ(keys({1, 0})["process_groups"], Json({{1, 0}}));
}

// A plan of two pairs, whose data goes over one another's ranks.
Json plan_of_pairs(Collective collective, bool in_place) {
  std::mt19937_64 random(9);
  const RandomGroups groups(collective, {{0, 1}, {2, 3}}, 5, true, random, {2, 2});
  PlanOptions options;
  options.in_place = in_place;
  const auto plan = lower_to_plan(groups.forests, in_boxes(5, 5), options);
  return Json::parse(to_mscclpp_json(*plan, "test"));
}

// Every put of a relay, of what it has in scratch, edited; how many edits there are.
int for_each_passing_put(const Json& plan,
                         const std::function<void(Json& put, Json& edited)>& edit) {
  int count = 0;
  for (std::size_t r = 0; r < plan["gpus"].size(); ++r) {
    const Json& gpu = plan["gpus"][r];
    for (std::size_t t = 0; t < gpu["threadblocks"].size(); ++t) {
      const Json& ops = gpu["threadblocks"][t]["ops"];
      for (std::size_t i = 0; i < ops.size(); ++i) {
        if (ops[i]["name"] != "pipeline") continue;
        for (std::size_t j = 0; j < ops[i]["ops"].size(); ++j) {
          const Json& op = ops[i]["ops"][j];
          if (op["name"] != "put" || op["src_buff"][0].value("type", "") != "s") continue;
          Json edited = plan;
          edit(edited["gpus"][r]["threadblocks"][t]["ops"][i]["ops"][j], edited);
          ++count;
        }
      }
    }
  }
  return count;
}

TEST(JointPlansLong, ARelayThatPassesAnotherGroupsChunkIsFound) {
  for (const Collective collective : kCollectives) {
    for (const bool in_place : {true, false}) {
      const Json plan = plan_of_pairs(collective, in_place);
      ASSERT_TRUE(verdict_on(plan.dump()).ok);
      int wrong = 0;
      const int puts = for_each_passing_put(plan, [&](Json& put, Json& edited) {
        auto& index = put["src_buff"][0]["index"];
        index = index == 0 ? 1 : index.get<int>() - 1;
        const Verdict verdict = verdict_on(edited.dump());
        wrong += verdict.ok ? 0 : 1;
        EXPECT_EQ(verdict.ok, execute_plan(edited, 5) == Outcome::right) << edited.dump();
      });
      EXPECT_GT(puts, 3);
      EXPECT_EQ(wrong, puts) << to_string(collective);
    }
  }
}

// What is promised to the members of one group is not what another group's get.
TEST(JointPlans, GroupsThatAreSaidToBeOthersAreFound) {
  for (const Collective collective : kCollectives) {
    Json plan = plan_of_pairs(collective, true);
    plan["process_groups"] = {{0, 2}, {1, 3}};
    const Verdict verdict = verdict_on(plan.dump());
    EXPECT_FALSE(verdict.ok);
    EXPECT_EQ(verdict.faults.front(), Fault::wrong) << test::explain(verdict);
    plan.erase("process_groups");
    EXPECT_FALSE(verdict_on(plan.dump()).ok);
  }
}

TEST(JointPlans, ARankInNoGroupKeepsItsBuffers) {
  for (const bool in_place : {true, false}) {
    Json plan = plan_of_pairs(Collective::allreduce, in_place);
    Json& block = plan["gpus"][4]["threadblocks"][0];
    const Json copy = {{"name", "copy"},
                       {"src_buff", {{{"type", "i"}, {"index", 0}, {"size", 1}}}},
                       {"dst_buff", {{{"type", "o"}, {"index", 1}, {"size", 1}}}}};
    block["ops"].insert(block["ops"].begin(), copy);
    const Verdict verdict = verdict_on(plan.dump());
    ASSERT_FALSE(verdict.ok);
    EXPECT_NE(test::explain(verdict).find("a rank in no process group"), std::string::npos)
        << test::explain(verdict);
  }
}

TEST(JointPlans, GroupsThatMeanNothingAreRefused) {
  const Json plan = plan_of_pairs(Collective::allgather, true);
  const auto finding = [&](Json groups, const std::string& collective = "allgather") {
    Json edited = plan;
    edited["process_groups"] = std::move(groups);
    edited["collective"] = collective;
    const Verdict verdict = verdict_on(edited.dump());
    EXPECT_FALSE(verdict.ok);
    return test::explain(verdict);
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(finding({{0, 1}, {2, 5}}), "found 5"));
  EXPECT_TRUE(has(finding({{0, 1}, {2, -1}}), "found -1"));
  EXPECT_TRUE(has(finding({{0, 1}, {2, 0}}), "found 0 again"));
  EXPECT_TRUE(has(finding({{0, 1}, Json::array()}), "a group without a rank"));
  EXPECT_TRUE(has(finding({{0, 1}, 2}), "expected a list, found 2"));
  EXPECT_TRUE(has(finding({{0, "1"}, {2, 3}}), "expected an integer"));
  EXPECT_TRUE(has(finding("all"), "expected a list"));
  EXPECT_TRUE(has(finding({{0, 1}, {2, 3}}, "broadcast"), "process_groups of a broadcast"));
  EXPECT_TRUE(has(finding({{0, 1, 4}, {2, 3}}), "V11"));  // chunks that three do not divide
}

}  // namespace
}  // namespace forestcoll
