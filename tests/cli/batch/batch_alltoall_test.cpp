// `forestcoll batch -c alltoall` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/batch.hpp"

namespace forestcoll::testing {
namespace {

TEST(BatchAlltoall, MakesXmlBesideOtherCollectives) {
  const BatchDirectories batch;
  batch.add("pair.json", pair_topology("10"));
  const auto made = batch.run({"-c", "allgather,all2all"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(batch.statuses(), (std::map<std::string, std::string>{{"pair.json allgather", "ok"},
                                                                  {"pair.json alltoall", "ok"}}));
  const auto items = batch.items();
  EXPECT_EQ(items[0]["max_height"], 1);
  EXPECT_TRUE(items[1]["max_height"].is_null());
  EXPECT_EQ(items[1]["optimum_fraction"], 1.0);
  EXPECT_EQ(items[1]["asked_k"], "auto");
  EXPECT_THAT(files_below(batch.out()).at("pair.json/alltoall.xml"),
              HasSubstr("coll=\"alltoall\""));
  ASSERT_EQ(batch.run({"-c", "allgather,alltoall"}).code, 0);  // what is read back is the same
  EXPECT_EQ(batch.items()[1]["status"], "cached");
  EXPECT_EQ(batch.items()[1]["algbw"], items[1]["algbw"]);
}

TEST(BatchAlltoall, MakesFlowsAndBaselines) {
  const BatchDirectories batch;
  batch.add("pair.json", pair_topology("10"));
  const auto made =
      batch.run({"-c", "alltoall", "--format", "flows", "--algorithm", "direct", "--in-process"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto flows = nlohmann::json::parse(files_below(batch.out()).at("pair.json/alltoall.json"));
  expect_valid(flows, "forestcoll-flows.schema.json");
  EXPECT_EQ(batch.items()[0]["asked_k"], "own");
}

TEST(BatchAlltoall, RefusesBeforeItBegins) {
  const BatchDirectories batch;
  batch.add("pair.json", pair_topology("10"));
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"-c", "allgather,alltoall", "--format", "flows"}, "--format flows is for -c alltoall"},
      {{"-c", "alltoallv"}, "no --demand says which"},
      {{"-c", "alltoall", "--effort", "max"}, "--effort is about trees"},
      {{"-c", "alltoall", "--demand", "bytes.csv"}, "--demand"},
  };
  for (const auto& [words, says] : refused) {
    const auto result = batch.run(words);
    EXPECT_EQ(result.code, 2) << says;
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_FALSE(std::filesystem::exists(batch.out()));
  }
}

}  // namespace
}  // namespace forestcoll::testing
