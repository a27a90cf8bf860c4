// `forestcoll simulate --groups`: one schedule that all groups run at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/common/shared_limits.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

// Rails are alike, and share no link: their one file takes what the files of all take.
TEST(SimulateGroups, OneFileTakesWhatThatOfEachGroupTakes) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2");
  run_well({"synth", fabric, "-c", "allreduce", "--groups", "MOD 8", "-k", "1", "-o",
            scratch / "rails"});
  const std::vector<std::string> sizes = {"--sizes", "64K,16M", "--json"};
  auto job = json_of(joined({"simulate", scratch / "rails/job.json", fabric}, sizes),
                     "forestcoll-simulation-job.schema.json")["steps"][0];
  auto file = json_of(
      joined({"simulate", scratch / "rails/0-allreduce-0.xml", fabric, "--groups", "MOD 8"}, sizes),
      "forestcoll-simulation-job.schema.json")["steps"][0];
  EXPECT_EQ(file["name"], "allreduce MOD 8");
  EXPECT_EQ(file["rate"]["exact"], "25");
  for (const char* key : {"times", "links", "rate", "collective"}) EXPECT_EQ(file[key], job[key]);
}

TEST(SimulateGroups, GroupsThatShareALinkTakeTwiceAsLong) {
  const Scratch scratch;
  const std::string file = scratch / "pair.xml";
  run_well({"synth", topology("dgx-a100-x1"), "--ranks", "0,1", "-c", "allgather", "-k", "1", "-o",
            file});
  const std::string racks = scratch.write("racks.json", racks_topology());
  const auto seconds = [&](const std::string& groups) {
    return json_of({"simulate", file, racks, "--groups", groups, "--gpu", "ideal", "--sizes", "1G",
                    "--json"})["steps"][0]["times"][0]["simulated_seconds"]
        .get<double>();
  };
  EXPECT_NEAR(seconds("MOD 2") / seconds("[[0,2]]"), 2, 0.01);
  EXPECT_THAT(run_well({"simulate", file, racks, "--groups", "MOD 2", "--sizes", "1G"}).out,
              HasSubstr("trees and paths reach at most 10.000 GB/s"));
}

TEST(SimulateGroups, GroupsThatShareALimitWaitForIt) {
  const Scratch scratch;
  const std::string file = scratch / "pair.xml";
  run_well({"synth", topology("dgx-a100-x1"), "--ranks", "0,1", "-c", "allgather", "-k", "1", "-o",
            file});
  const auto step = json_of({"simulate", file, scratch.write("way_in.json", kSharedWayIn),
                             "--groups", "DIV 2", "--gpu", "ideal", "--sizes", "1G", "--json"},
                            "forestcoll-simulation-job.schema.json")["steps"][0];
  EXPECT_NEAR(step["times"][0]["simulated_algbw"].get<double>(), 12, 0.1);
  EXPECT_EQ(step["rate"]["exact"], "12");
  EXPECT_EQ(step["shared_limits"][0]["name"], "bridge");
}

TEST(SimulateGroups, WhatHasNoPlaceInEveryGroup) {
  const Scratch scratch;
  const std::string file = scratch / "pair.xml", fabric = topology("torus-4x4");
  run_well({"synth", topology("dgx-a100-x1"), "--ranks", "0,1", "-c", "allgather", "-k", "1", "-o",
            file});
  const std::string forest = scratch / "forest.json";
  run_well({"synth", fabric, "-c", "allgather", "--format", "forest", "-o", forest});
  expect_says(2, {"simulate", file, fabric, "--groups", "DIV 4"},
              "group 0 (ranks 0,1,2,3): it has 4 members, and the schedule is for 2 [O09]");
  expect_says(2, {"simulate", file, fabric, "--groups", "[[0,1],[2,7]]"}, "group 1 (ranks 2,7)");
  expect_says(2, {"simulate", file, fabric, "--groups", "[[0,1],[2,7]]", "--relays"},
              "pair.xml: group 1 (ranks 2,7): rank 0: the schedule is not for this topology");
  expect_says(2, {"simulate", forest, fabric, "--groups", "all"},
              "forests and flows name their GPUs, and are of one group [S04]");
  expect_says(2, {"simulate", file, fabric, "--mesh", "tp=4,dp=4"}, "add --groups\n");
}

}  // namespace
}  // namespace forestcoll::testing
