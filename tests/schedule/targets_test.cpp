// What is known of runtimes beside their limits.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "forestcoll/schedule.hpp"

namespace forestcoll {
namespace {

TEST(Targets, HoldTheThreadblocksOfTheirSmallestGpu) {
  for (const char* name : {"azure", "msccl", "mscclpp"}) EXPECT_EQ(default_sms(name), 108) << name;
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

}  // namespace
}  // namespace forestcoll
