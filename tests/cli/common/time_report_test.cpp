// Of the sizes that a file is for, and how it compares there with the runtime's own choice.
#include "common/report/time_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SizeWindow window_of(std::vector<TimeBeside> times) {
  return {1 << 20, std::int64_t{1} << 30, std::move(times)};
}

const TimeBeside kFaster{1 << 20, 1e-3, "nccl-ring", 2e-3};
const TimeBeside kSlower{1 << 20, 2e-3, "nccl-ring", 1e-3};
const TimeBeside kUnknown{1 << 20, 1e-3, "", 0};

TEST(WindowLines, SayNoMoreThanIsKnownOfTheRuntime) {
  constexpr const char* kClaim = "where it is not slower than the runtime's own choice";
  EXPECT_THAT(cli::window_lines(window_of({kFaster}), {}), HasSubstr(kClaim));
  EXPECT_THAT(cli::window_lines(window_of({kFaster, kUnknown}), {}),
              HasSubstr(std::string(kClaim) + ", as far as that is known"));
  EXPECT_THAT(cli::window_lines(window_of({kFaster, kSlower}), {}),
              HasSubstr("though the runtime's own choice is faster at some"));
  const std::string unknown = cli::window_lines(window_of({kUnknown}), {});
  EXPECT_THAT(unknown, HasSubstr("the time of the runtime's own choice is not known"));
  EXPECT_THAT(unknown, Not(HasSubstr(kClaim)));
  EXPECT_THAT(cli::window_line(window_of({kUnknown}), {}), HasSubstr("runtime's own: not known"));
  EXPECT_THAT(cli::window_line(window_of({kFaster}), {}), Not(HasSubstr("not known")));
}

TEST(WindowLines, AreNullInJsonWhereNothingIsKnown) {
  const auto json = cli::to_json(window_of({kUnknown, kFaster}));
  EXPECT_TRUE(json["times"][0]["runtime"].is_null());
  EXPECT_FALSE(json["times"][0].contains("ratio"));
  EXPECT_EQ(json["times"][1]["ratio"], 0.5);
}

}  // namespace
}  // namespace forestcoll::testing
