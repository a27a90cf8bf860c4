#include "topology/format/host_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace forestcoll::topology {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> expand(const std::string& text) {
  const auto list = parse_host_list(text);
  EXPECT_TRUE(list) << text;
  if (!list) return {};
  auto ids = list->expand();
  EXPECT_EQ(ids.size(), list->count());
  return ids;
}

TEST(HostList, PlainIdsStandForThemselves) {
  EXPECT_THAT(expand("gpu0"), ElementsAre("gpu0"));
  EXPECT_THAT(expand("box0/gpu-3, left"), ElementsAre("box0/gpu-3, left"));
}

TEST(HostList, RangesAndLists) {
  EXPECT_THAT(expand("gpu[0-3]"), ElementsAre("gpu0", "gpu1", "gpu2", "gpu3"));
  EXPECT_THAT(expand("n[0,2,4-6]x"), ElementsAre("n0x", "n2x", "n4x", "n5x", "n6x"));
  EXPECT_THAT(expand("[7]"), ElementsAre("7"));
  EXPECT_THAT(expand("[9-11]"), ElementsAre("9", "10", "11"));
}

TEST(HostList, ProductsRunTheLastRangeFastest) {
  EXPECT_THAT(expand("n[0-1]g[2,1]"), ElementsAre("n0g2", "n0g1", "n1g2", "n1g1"));
  EXPECT_THAT(expand("[0-1][0-1]"), ElementsAre("00", "01", "10", "11"));
}

TEST(HostList, PaddingIsKept) {
  EXPECT_THAT(expand("n[08-10]"), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(expand("n[099-101]"), ElementsAre("n099", "n100", "n101"));
  EXPECT_THAT(expand("n[08-100]").back(), "n100");
  EXPECT_THAT(expand("n[007]"), ElementsAre("n007"));
  EXPECT_THAT(expand("n[0-1]"), ElementsAre("n0", "n1"));
}

TEST(HostList, CountsWithoutOverflow) {
  EXPECT_EQ(parse_host_list("g[0-999999999999999999]")->count(), 1'000'000'000'000'000'000U);
  EXPECT_EQ(parse_host_list("g[0-999999999999999999]h[0-99]")->count(),
            std::numeric_limits<std::size_t>::max());
  std::string many = "g[0-999999999999999999";
  for (int i = 0; i < 30; ++i) many += ",0-999999999999999999";
  EXPECT_EQ(parse_host_list(many + "]")->count(), std::numeric_limits<std::size_t>::max());
}

TEST(HostList, TheLengthOfAnIdIsBounded) {
  EXPECT_TRUE(parse_host_list(std::string(255, 'a')));
  EXPECT_FALSE(parse_host_list(std::string(256, 'a')));
  EXPECT_TRUE(parse_host_list(std::string(253, 'a') + "[0-99]"));
  EXPECT_FALSE(parse_host_list(std::string(253, 'a') + "[0-100]"));
  EXPECT_FALSE(parse_host_list(std::string(253, 'a') + "[000]"));
}

TEST(HostList, MalformedRangesAreRefused) {
  for (const char* text :
       {"", "a[", "a]", "a[]", "a[1-0]", "a[x]", "a[0-]", "a[-1]", "a[0,]", "a[,0]", "a[0--1]",
        "a[0-1-2]", "a[[0]]", "a[0-1]]", "a[ 0]", "a[0-01]", "a[00-1]", "a[1234567890123456789]"}) {
    const auto list = parse_host_list(text);
    ASSERT_FALSE(list) << text;
    EXPECT_EQ(list.errors().front().code, Code::E11);
    EXPECT_FALSE(list.errors().front().remedy.empty());
  }
}

}  // namespace
}  // namespace forestcoll::topology
