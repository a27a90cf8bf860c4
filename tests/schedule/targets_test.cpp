// What is known of runtimes beside their limits.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "forestcoll/codes.hpp"
#include "forestcoll/plan_target.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll {
namespace {

TEST(Targets, HoldTheThreadblocksOfTheirSmallestGpu) {
  for (const char* name : {"azure", "msccl", "mscclpp", "mscclpp-0.9"}) {
    EXPECT_EQ(default_sms(name), 108) << name;
  }
  for (const char* name : {"rccl-5.7", "rccl-6", "rccl-6.2", "rccl-6.3"}) {
    EXPECT_EQ(default_sms(name), 104) << name;
  }
}

TEST(Targets, OnlyTheResearchRuntimeLeavesTheEndOfAWindowOut) {
  EXPECT_EQ(find_target("msccl")->max_bytes_for(1 << 20), (1 << 20) + 1);
  EXPECT_EQ(find_target("msccl")->last_selected(1 << 20), (1 << 20) - 1);
  for (const char* name : {"azure", "rccl-5.7", "rccl-6", "rccl-6.2", "rccl-6.3"}) {
    EXPECT_EQ(find_target(name)->max_bytes_for(1 << 20), 1 << 20) << name;
    EXPECT_EQ(find_target(name)->last_selected(1 << 20), 1 << 20) << name;
  }
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(find_target("msccl")->max_bytes_for(kMost), kMost);
}

// The word alone is the newest release; no release loads XML.
TEST(Targets, ReleasesOfMscclppLoadPlans) {
  ASSERT_EQ(plan_targets().size(), 2U);
  EXPECT_EQ(find_plan_target("mscclpp"), &plan_targets().front());
  EXPECT_EQ(find_target("mscclpp")->name, "mscclpp-0.10");
  EXPECT_TRUE(find_plan_target("mscclpp-0.10")->switch_stores);
  EXPECT_FALSE(find_plan_target("mscclpp-0.9")->switch_stores);
  for (const char* name : {"azure", "mscclpp-0.8", ""}) {
    EXPECT_EQ(find_plan_target(name), nullptr) << name;
  }
  for (const PlanTarget& target : plan_targets()) {
    EXPECT_EQ(find_target(target.name)->name, target.name);
    const auto refused = lower_exchange(Exchange::one_shot, 4, {.target = target.name});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.errors().front().code, Code::T07);
    EXPECT_NE(to_string(refused.errors().front()).find("loads plans of MSCCL++, not MSCCL XML"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace forestcoll
