// `forestcoll compare -c alltoall` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/compare.hpp"

namespace forestcoll::testing {
namespace {

TEST(CompareAlltoallLong, HasOursAndAllOthers) {
  const auto report = compare_json({"-c", "alltoall", "--sizes", "64K,256M"});
  EXPECT_EQ(report["collective"], "alltoall");
  EXPECT_EQ(report["optimum"]["exact"], "50");
  EXPECT_EQ(report["bottleneck"]["says"],
            "the 8 GPUs of box1 send 64 blocks through 8 links of 25 GB/s (200 GB/s)");
  ASSERT_EQ(report["rows"].size(), 6U);
  for (const auto& each : report["rows"]) {
    EXPECT_EQ(each["simulated"], "flows") << each;
    ASSERT_EQ(each["times"].size(), 2U);
    EXPECT_LE(each["times"][1]["simulated_algbw"], each["algbw"]["value"]);
    EXPECT_LE(each["algbw"]["value"], 50);
    EXPECT_TRUE(each.contains("program_size")) << each;
  }
  EXPECT_EQ(row(report, "forestcoll")["algbw"]["exact"], "50");
  // Seven of eight blocks cross at least once, 28 of 8·4 by Bruck's relays.
  EXPECT_EQ(row(report, "nccl-pxn")["algbw"]["exact"], "50");
  EXPECT_LT(row(report, "bruck")["algbw"]["value"], 25);
  EXPECT_FALSE(report["who_wins"].empty());
}

TEST(CompareAlltoallLong, AFileIsARowOfItsOwn) {
  const Scratch scratch;
  const std::string flows = scratch / "flows.json", xml = scratch / "alltoall.xml";
  const std::string fabric = topology("dgx-a100-x2");
  ASSERT_EQ(run({"synth", fabric, "-c", "alltoall", "--format", "flows", "-o", flows}).code, 0);
  ASSERT_EQ(run({"synth", fabric, "-c", "alltoall", "-o", xml}).code, 0);
  const auto report = compare_json({"-c", "alltoall", "--sizes", "16M", "--algorithms",
                                    "forestcoll,direct", "--schedule", flows, "--schedule", xml});
  EXPECT_EQ(row(report, flows)["simulated"], "flows");
  EXPECT_EQ(row(report, xml)["simulated"], "program");
  EXPECT_FALSE(row(report, xml).contains("times"));
  EXPECT_EQ(row(report, flows)["times"], row(report, "forestcoll")["times"]);
  // In one instance, in Simple: one of those that are chosen among by size.
  const auto programs = row(report, "forestcoll")["program_times"];
  ASSERT_EQ(programs.size(), 1U);
  EXPECT_LE(programs[0]["simulated_seconds"],
            row(report, xml)["program_times"][0]["simulated_seconds"]);
}

// As programs, too: ours is the fastest of all.
TEST(CompareAlltoallLong, TimesProgramsBySize) {
  const auto report = compare_json({"-c", "alltoall", "--sizes", "4K,1M,64M"}, "dgx-a100-x1");
  const auto ours = row(report, "forestcoll");
  ASSERT_EQ(ours["choices"].size(), 3U);
  EXPECT_EQ(ours["choices"][0]["protocol"], "LL");
  EXPECT_GT(ours["choices"][2]["instances"], 1);
  for (const auto& each : report["rows"]) {
    ASSERT_EQ(each["program_times"].size(), 3U) << each["algorithm"];
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_GE(each["program_times"][i]["simulated_seconds"],
                ours["program_times"][i]["simulated_seconds"]);
    }
  }
}

TEST(CompareAlltoall, TakesADemand) {
  const Scratch scratch;
  const std::string pair = scratch.write("pair.json", small_topology());
  const std::string demand = scratch.write("bytes.csv", "0,30\n10,0\n");
  const auto report =
      json_of({"compare", pair, "-c", "alltoallv", "--demand", demand, "--sizes", "1M", "--json"},
              "forestcoll-compare.schema.json");
  EXPECT_EQ(report["collective"], "alltoallv");
  EXPECT_EQ(row(report, "forestcoll")["program_error"]["code"], "T09");
  EXPECT_EQ(row(report, "forestcoll")["times"][0]["bytes"], 1 << 20);
}

TEST(CompareAlltoallLong, WritesTablesAndPages) {
  const Scratch scratch;
  const std::string page = scratch / "page.html";
  const auto result =
      compare({"-c", "alltoall", "--markdown", "--sizes", "1M", "--html", page}, "dgx-1-v100");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("alltoall over 8 GPUs"));
  EXPECT_THAT(result.out, HasSubstr("flows without threadblocks"));
  EXPECT_THAT(read_file(page), HasSubstr("alltoall"));
}

TEST(CompareAlltoallLong, MeasuredRunsStandBesideTheModel) {
  const Scratch scratch;
  // 1 MiB in 104.86 us is 10 GB/s, of which 15/16 are with others.
  const std::string table =
      "# origin: SimGrid\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "     1048576         16384     float    none      -1   104.86   10.00    9.38      0\n";
  const std::string file = scratch.write("run.txt", "# columns as alltoall_perf\n" + table);
  const auto report = compare_json(
      {"-c", "alltoall", "--sizes", "1M", "--algorithms", "forestcoll", "--measured", file});
  const auto& run = report["measured"][0];
  EXPECT_EQ(run["origin"], "SimGrid");
  EXPECT_EQ(run["times"][0]["simulated_algbw"],
            row(report, "forestcoll")["times"][0]["simulated_algbw"]);
  EXPECT_NEAR(run["times"][0]["measured_busbw"].get<double>(), 9.375, 0.001);
  const std::string other = scratch.write("other.txt", "# columns as all_gather_perf\n" + table);
  EXPECT_THAT(compare({"-c", "alltoall", "--measured", other}).err,
              HasSubstr("this is a run of allgather, and alltoall is compared"));
  EXPECT_THAT(compare({"-c", "allgather", "--measured", file}).err,
              HasSubstr("this is a run of alltoall, and allgather is compared"));
}

TEST(CompareAlltoallLong, RefusesInWords) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"-c", "alltoall", "--root", "0"}, "alltoall has no root [S02]"},
      {{"-c", "alltoall", "--algorithms", "nvls"}, "there is no \"nvls\""},
      {{"--algorithms", "tree"}, "did you mean double-tree?"},
      {{"-c", "allgather", "--demand", "x"}, "--demand is for -c alltoall"},
      {{"-c", "alltoall", "--cross-nic"}, "--cross-nic has no effect"},
  };
  for (const auto& [words, says] : refused) {
    const auto result = compare(words);
    EXPECT_EQ(result.code, 2) << says;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(says));
  }
}

}  // namespace
}  // namespace forestcoll::testing
