// Plans with switch channels from trees that branch at a switch: the checker accepts them, an
// executor in miniature gets the right numbers, and what the runtime cannot run is refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "audit/plan/plan_executor.hpp"
#include "forestcoll/allreduce.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "solver/allreduce/in_network_fabrics.hpp"

namespace forestcoll::testing {
namespace {

using audit_test::execute_plan;
using audit_test::Outcome;

BranchingForest packed(const Network& network, const SwitchRoles& roles) {
  const auto optimum = allreduce_optimum(network, roles);
  if (!optimum || !optimum->split) throw std::runtime_error("no optimum");
  auto forest = pack_branching(network, roles, *optimum);
  if (!forest) throw std::runtime_error(to_string(forest.errors().front()));
  return *std::move(forest);
}

BranchingForest box_of(std::size_t gpus) {
  const Cluster box = h100(1, gpus);
  return packed(box.network, box.roles(kEchoing, {}));
}

PlanOptions options_of(bool switch_stores, bool in_place = true) {
  PlanOptions options;
  options.switch_stores = switch_stores;
  options.in_place = in_place;
  return options;
}

IdVector<Rank, std::int32_t> one_box(std::size_t gpus) {
  return IdVector<Rank, std::int32_t>(gpus, 0);
}

void expect_right(const BranchingForest& forest, const PlanOptions& options, int runs) {
  const std::size_t gpus = forest.ranks.size();
  const auto plan = lower_to_switch_plan(forest, one_box(gpus), options);
  ASSERT_TRUE(plan) << to_string(plan.errors().front());
  const std::string text = to_mscclpp_json(*plan, "switch");
  EXPECT_NE(text.find("\"glres\""), std::string::npos);
  const auto verdict = verify(text, "plan.json", nullptr, {});
  ASSERT_TRUE(verdict) << to_string(verdict.errors().front());
  EXPECT_TRUE(verdict->ok) << gpus << ": " << to_string(verdict->findings.front());
  EXPECT_LE(verdict->threadblocks, options.max_threadblocks);
  if (runs == 0) return;
  EXPECT_EQ(execute_plan(nlohmann::json::parse(text), runs), Outcome::right);
}

// Up to 9 ranks signal to all at once, more in rounds; powers of two meet in the last.
TEST(SwitchPlanLong, OneBoxIsABarrierASumAndABarrier) {
  for (const std::size_t gpus : {4, 8, 9, 10, 16, 21}) {
    for (const bool in_place : {true, false}) {
      for (const std::int32_t threadblocks : {1, 3}) {
        PlanOptions options;
        options.in_place = in_place;
        options.max_threadblocks = threadblocks;
        expect_right(box_of(gpus), options, gpus == 4 ? 10 : gpus < 11 ? 1 : 0);
      }
    }
  }
}

// Switches reach scratch, which the executor allocates for them, and no buffer of the caller.
TEST(SwitchPlanLong, ForAnyBuffersAllSumsAreInScratch) {
  for (const bool in_place : {true, false}) {
    PlanOptions options;
    options.in_place = in_place;
    options.any_buffers = true;
    options.max_threadblocks = 2;
    expect_right(box_of(4), options, 3);
    const auto plan = lower_to_switch_plan(box_of(4), one_box(4), options);
    ASSERT_TRUE(plan);
    for (const PlanGpu& gpu : plan->gpus) {
      ASSERT_EQ(gpu.switch_groups.size(), 1U);
      EXPECT_EQ(gpu.switch_groups.front().buffer, Buffer::scratch);
    }
  }
  const Cluster rack = h100(1, 72, 900);
  PlanOptions options;
  options.any_buffers = true;
  options.max_threadblocks = 2;
  expect_right(packed(rack.network, rack.roles(kEchoing, {})), options, 0);
}

TEST(SwitchPlan, ARackFitsTheChannels) {
  const Cluster rack = h100(1, 72, 900);
  PlanOptions options;
  options.max_threadblocks = 2;
  expect_right(packed(rack.network, rack.roles(kEchoing, {})), options, 0);
}

// GPUs whose links differ root different numbers of chunks.
TEST(SwitchPlan, RootsMayHaveUnequalShares) {
  test::FabricBuilder fabric(4, 1);
  for (std::size_t gpu = 0; gpu < 4; ++gpu) fabric.link(gpu, 4, gpu == 0 ? 11 : 10);
  const Network network = fabric.build();
  SwitchRoles roles(5);
  roles[NodeId(4)] = kEchoing;
  const BranchingForest forest = packed(network, roles);
  PlanOptions options;
  options.max_threadblocks = 2;
  expect_right(forest, options, 5);
  const auto plan = lower_to_switch_plan(forest, one_box(4), options);
  EXPECT_NE(plan->gpus[Rank(0)].threadblocks.front().count,
            plan->gpus[Rank(1)].threadblocks.front().count);
}

IdVector<Rank, std::int32_t> boxes_of(std::size_t boxes, std::size_t gpus) {
  IdVector<Rank, std::int32_t> box_of;
  for (std::size_t r = 0; r < boxes * gpus; ++r) {
    box_of.push_back(static_cast<std::int32_t>(r / gpus));
  }
  return box_of;
}

void expect_right_among_boxes(std::size_t boxes, std::size_t gpus, PlanOptions options, int runs) {
  options.max_threadblocks = 2;
  const auto plan = make_box_plan(boxes_of(boxes, gpus), options);
  ASSERT_TRUE(plan) << to_string(plan.errors().front());
  const std::string text = to_mscclpp_json(*plan, "boxes");
  EXPECT_EQ(text.find("\"gstore\"") != std::string::npos, options.switch_stores);
  const auto verdict = verify(text, "plan.json", nullptr,
                              {.target = options.switch_stores ? "mscclpp-0.10" : "mscclpp-0.9"});
  ASSERT_TRUE(verdict) << to_string(verdict.errors().front());
  EXPECT_TRUE(verdict->ok) << boxes << " x " << gpus << ": "
                           << to_string(verdict->findings.front());
  EXPECT_EQ(verdict->threadblocks, 2);
  EXPECT_EQ(verdict->same_bits, true);
  if (runs == 0) return;
  EXPECT_EQ(execute_plan(nlohmann::json::parse(text), runs), Outcome::right);
}

void expect_right_packets(std::size_t gpus, PlanOptions options) {
  options.max_threadblocks = 2;
  const auto plan = make_packet_plan(one_box(gpus), options);
  ASSERT_TRUE(plan) << to_string(plan.errors().front());
  const std::string text = to_mscclpp_json(*plan, "packets");
  EXPECT_EQ(text.find("\"gstorepkt\"") != std::string::npos, options.switch_stores);
  EXPECT_EQ(text.find("\"ppkt\"") == std::string::npos, options.switch_stores);
  EXPECT_EQ(text.find("\"wait\""), std::string::npos);
  const auto verdict = verify(text, "plan.json", nullptr,
                              {.target = options.switch_stores ? "mscclpp-0.10" : "mscclpp-0.9"});
  ASSERT_TRUE(verdict) << to_string(verdict.errors().front());
  EXPECT_TRUE(verdict->ok) << gpus << ": " << to_string(verdict->findings.front());
  EXPECT_EQ(verdict->same_bits, true) << gpus;
  if (gpus > 8) return;
  EXPECT_EQ(execute_plan(nlohmann::json::parse(text), gpus == 8 ? 2 : 20), Outcome::right);
}

void expect_right_packets_among(const std::vector<std::size_t>& numbers, bool switch_stores) {
  for (const std::size_t gpus : numbers) {
    for (const bool in_place : {true, false}) {
      expect_right_packets(gpus, options_of(switch_stores, in_place));
    }
  }
}

// No barriers: flags in the packets, and everybody adds up in the same order.
TEST(SwitchPlan, PacketsAreStoredAtAllAndAddedUpByEach) {
  expect_right_packets_among({2, 4, 10}, true);
  const auto two = make_packet_plan(boxes_of(2, 4), {});
  ASSERT_FALSE(two);
  EXPECT_EQ(two.errors().front().code, Code::T06);
  PlanOptions long_messages;
  long_messages.max_bytes = std::int64_t{1} << 32;
  EXPECT_EQ(make_packet_plan(one_box(8), long_messages).errors().front().code, Code::T04);
}

// Where no switch stores: put at every other, as far as a threadblock has channels.
TEST(SwitchPlan, PacketsArePutAtAllWhereNoSwitchStores) {
  expect_right_packets_among({2, 4, 9, 10}, false);
  const auto many = make_packet_plan(one_box(18), options_of(false));
  ASSERT_FALSE(many);
  EXPECT_EQ(many.errors().front().code, Code::T03);
}

TEST(SwitchPlanLong, PacketsOfMoreGpusAreRight) {
  expect_right_packets_among({8, 16, 21}, true);
  expect_right_packets_among({8, 17}, false);
}

TEST(SwitchPlanLong, BoxesCombineExchangeAndStore) {
  for (const bool in_place : {true, false}) {
    const PlanOptions options = options_of(true, in_place);
    expect_right_among_boxes(2, 2, options, 20);
    expect_right_among_boxes(3, 2, options, 5);
    expect_right_among_boxes(2, 4, options, 2);
    expect_right_among_boxes(4, 8, options, 0);
    expect_right_among_boxes(9, 2, options, 0);
    expect_right_among_boxes(2, 16, options, 0);
  }
}

// Where no switch stores, two boxes add up their sums in the switch, and more cannot.
TEST(SwitchPlanLong, TwoBoxesCombineTwiceWhereNoSwitchStores) {
  for (const bool in_place : {true, false}) {
    const PlanOptions options = options_of(false, in_place);
    expect_right_among_boxes(2, 2, options, 50);
    expect_right_among_boxes(2, 4, options, 3);
    expect_right_among_boxes(2, 8, options, 0);
    expect_right_among_boxes(2, 16, options, 0);
  }
  const auto three = make_box_plan(boxes_of(3, 4), options_of(false));
  ASSERT_FALSE(three);
  EXPECT_EQ(three.errors().front().code, Code::T06);
  EXPECT_NE(to_string(three.errors().front()).find("target=mscclpp-0.10"), std::string::npos);
}

TEST(SwitchPlan, BoxesThatDoNotFitAreRefused) {
  const auto refusal = [](const IdVector<Rank, std::int32_t>& boxes) {
    const auto plan = make_box_plan(boxes, {});
    return plan ? "" : to_string(plan.errors().front());
  };
  const char* const unlike = "boxes of the same even number of GPUs";
  auto uneven = boxes_of(2, 4);
  uneven[Rank(4)] = 0;
  EXPECT_NE(refusal(uneven).find(unlike), std::string::npos);
  EXPECT_NE(refusal(boxes_of(2, 3)).find(unlike), std::string::npos);
  EXPECT_NE(refusal(boxes_of(1, 8)).find(unlike), std::string::npos);
  EXPECT_NE(refusal(IdVector<Rank, std::int32_t>(4, -1)).find(unlike), std::string::npos);
  EXPECT_NE(refusal(boxes_of(10, 2)).find("10 boxes: an operation"), std::string::npos);
}

TEST(SwitchPlan, WhatTheExecutorCannotRunIsRefused) {
  const auto refusal = [](const BranchingForest& forest,
                          const IdVector<Rank, std::int32_t>& boxes) {
    const auto plan = lower_to_switch_plan(forest, boxes, {});
    return plan ? "" : to_string(plan.errors().front());
  };
  IdVector<Rank, std::int32_t> two(8, 0);
  two[Rank(7)] = 1;
  EXPECT_NE(refusal(box_of(8), two).find("the ranks are of several boxes"), std::string::npos);
  // Two GPUs are faster without the switch's echo, and the trees do not branch.
  EXPECT_NE(refusal(box_of(2), one_box(2)).find("does not hang all ranks on one switch"),
            std::string::npos);
  PlanOptions options;
  options.max_bytes = std::int64_t{1} << 40;
  const auto large = lower_to_switch_plan(box_of(8), one_box(8), options);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.errors().front().code, Code::T04);
}

}  // namespace
}  // namespace forestcoll::testing
