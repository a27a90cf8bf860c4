// `forestcoll compare` of several topologies in one table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/compare.hpp"

namespace forestcoll::testing {
namespace {

class CompareSeveralLong : public ::testing::Test {
 protected:
  [[nodiscard]] Result compare(std::vector<std::string> more) const {
    return run(joined({"compare", slow_, fast_, "--sizes", "64K,1G"}, more));
  }
  Scratch scratch_;
  std::string slow_ = scratch_.write("slow.json", pair_topology("10"));
  std::string fast_ = scratch_.write("fast.json", pair_topology("20"));
};

TEST_F(CompareSeveralLong, OneTableHasARowForEachAndTheOrderOfTimes) {
  const auto result = compare({});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("allreduce on 2 topologies; rates and times are simulated"));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("slow.json"), HasSubstr("fast.json"), HasSubstr("nccl-pick"),
                    HasSubstr("1 GiB: " + fast_ + " is the fastest; " + slow_ + " takes ")));
}

TEST_F(CompareSeveralLong, EveryReportOfTheListIsThatOfItsTopologyAlone) {
  const auto result = compare({"--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  expect_valid(report, "forestcoll-comparisons.schema.json");
  ASSERT_EQ(report["comparisons"].size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    auto alone = nlohmann::json::parse(run({"compare", i == 0 ? slow_ : fast_, "--sizes", "64K,1G",
                                            "--algorithms", "forestcoll,nccl-pick", "--json"})
                                           .out);
    auto together = report["comparisons"][i];
    expect_valid(together, "forestcoll-compare.schema.json");
    for (auto* each : {&alone, &together}) {
      for (auto& row : (*each)["rows"]) row.erase("seconds");
    }
    EXPECT_EQ(together, alone);
  }
  EXPECT_EQ(report["comparisons"][0]["optimum"]["exact"], "10");
  EXPECT_EQ(report["comparisons"][1]["optimum"]["exact"], "20");
}

TEST_F(CompareSeveralLong, CsvHasOneHeadAndMarkdownATable) {
  const auto csv = compare({"--csv"}).out;
  EXPECT_THAT(csv, StartsWith("topology,collective,"));
  EXPECT_EQ(csv.find("topology,", 1), std::string::npos);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 2 * 2 * 2);  // topologies, algorithms, sizes
  EXPECT_THAT(compare({"--markdown"}).out, HasSubstr("| topology | GPUs | optimum GB/s |"));
}

TEST_F(CompareSeveralLong, WhatIsForOneTopologyIsRefused) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--svg", "x.svg"},
                                                {"--latex"},
                                                {"--html", "x.html"},
                                                {"--measured", slow_}}) {
    const auto result = compare(words);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err,
                AllOf(HasSubstr(words.front() + " is for one topology"), HasSubstr("[S04]")));
    EXPECT_THAT(result.out, IsEmpty());
  }
  EXPECT_THAT(run({"compare", "-", slow_, "-"}).err, HasSubstr("can be one topology"));
  EXPECT_THAT(run({"compare", slow_, scratch_ / "none.json"}).err, HasSubstr("none.json"));
}

}  // namespace
}  // namespace forestcoll::testing
