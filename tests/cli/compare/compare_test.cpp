// `forestcoll compare` from outside: rows, rates and what is refused.
#include "cli/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace forestcoll::testing {
namespace {

TEST(CompareLong, KnownAllreduceOnTwoBoxes) {
  const auto report = compare_json({"--sizes", "1M"});
  EXPECT_EQ(report["optimum"]["exact"], "520/3");
  EXPECT_EQ(report["two_phases"]["exact"], "520/3");
  EXPECT_EQ(report["optimum_name"], "optimum of allreduce (proved)");
  EXPECT_EQ(row(report, "forestcoll")["algbw"]["exact"], "520/3");
  EXPECT_EQ(row(report, "forestcoll")["busbw"]["exact"], "325");
  EXPECT_DOUBLE_EQ(row(report, "forestcoll")["optimum_fraction"], 1);
  EXPECT_EQ(row(report, "nccl-ring")["algbw"]["exact"], "320/3");
  EXPECT_EQ(row(report, "double-tree")["algbw"]["exact"], "1200/7");
  // The best of ring, tree and NVLS, not the ring; and by how much: 520/3 over 1200/7.
  EXPECT_THAT(report["who_wins"][0].get<std::string>(),
              HasSubstr("forestcoll moves 173.333 GB/s, 1.1 % more than the 171.429 of "
                        "double-tree, the best of NCCL's ring, tree and NVLS"));
}

TEST(Compare, KnownAllgatherIsComparedWithRings) {
  const auto report =
      compare_json({"-c", "allgather", "--algorithms", "forestcoll,nccl-ring", "--sizes", "1M"});
  EXPECT_EQ(report["rows"].size(), 2U);
  EXPECT_EQ(row(report, "nccl-ring")["algbw"]["exact"], "640/3");
  EXPECT_THAT(report["who_wins"][0].get<std::string>(),
              HasSubstr("forestcoll moves 346.667 GB/s, 62 % more than the 213.333 of nccl-ring"));
}

TEST(Compare, LinksHeightsAndProgramsAreThoseOfTheTrees) {
  const auto report = compare_json(
      {"-c", "allgather", "--algorithms", "forestcoll,nccl-ring", "--sizes", "1M"}, "dgx-a100-x1");
  const auto ours = row(report, "forestcoll");
  // Every GPU takes in 7/8 of the buffer over its one link, at a rate of 8 · 300 / 7.
  EXPECT_EQ(ours["busiest_link"]["load"]["exact"], "7/8");
  EXPECT_EQ(ours["busiest_link"]["bandwidth"]["exact"], "300");
  EXPECT_NEAR(ours["busiest_link"]["busy"], 1, 1e-12);
  EXPECT_EQ(row(report, "nccl-ring")["height"]["max"], 7);
  EXPECT_EQ(ours["height"]["max"], 1);
  EXPECT_EQ(ours["program_size"]["chunks"].get<int>() % 8, 0);
}

TEST(Compare, SaysSoWhereWeWinNothing) {
  const auto report = compare_json(
      {"-c", "allgather", "--algorithms", "forestcoll,nccl-ring", "--sizes", "1M"}, "dgx-1-v100");
  EXPECT_THAT(report["who_wins"][0].get<std::string>(),
              StartsWith("For large messages forestcoll is equal to nccl-ring: 171.429 GB/s"));
}

// C / (1 + 1/N) = 400, against 8 · 450 / 7 / 2 in two phases over GPUs alone: both have it.
TEST(CompareLong, OursBranchesAtSwitchesAsNvlsDoes) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", combining_switch());
  const auto report = json_of({"compare", file, "--trees", "--json", "--sizes", "1M"},
                              "forestcoll-compare.schema.json");
  EXPECT_EQ(report["optimum"]["exact"], "400");
  EXPECT_EQ(report["two_phases"]["exact"], "1800/7");
  EXPECT_EQ(report["allreduce_in_network"]["exact"], "400");
  for (const char* name : {"forestcoll", "nvls"}) {
    const auto each = row(report, name);
    EXPECT_EQ(each["algbw"]["exact"], "400") << name;
    EXPECT_EQ(each["optimum_fraction"], 1) << name;
    EXPECT_EQ(each["trees"], 16) << name;
    EXPECT_EQ(each["height"]["max"], 2) << name;
    // With its echo, every link carries everything once and a share of 1/8 once more.
    EXPECT_EQ(each["busiest_link"]["load"]["exact"], "9/8") << name;
    EXPECT_EQ(each["program_error"]["code"], "T06") << name;
  }
  EXPECT_THAT(
      report["who_wins"][0].get<std::string>(),
      HasSubstr("forestcoll is equal to nvls, the best of NCCL's ring, tree and NVLS: 400 GB/s"));
  EXPECT_THAT(run({"compare", file, "--sizes", "1M"}).out,
              HasSubstr("with in-network multicast and reduction: 400 GB/s, 55.56 % more"));
}

// On every kind of box whose switch can do it, one or several, with SHARP between them and without:
// by rate, and at no size by more than what `compare` calls level.
TEST(CompareLong, OursIsNoSlowerThanNvlsAnywhere) {
  const Scratch scratch;
  const std::string file = scratch / "t.json";
  for (const std::vector<std::string>& fabric : std::vector<std::vector<std::string>>{
           {"dgx-h100"},
           {"dgx-h200"},
           {"dgx-b200"},
           {"gb200-nvl72"},
           {"dgx-h100", "--boxes", "2"},
           {"dgx-h100", "--boxes", "3", "--fabric", "single"},
           {"dgx-h100", "--boxes", "4", "--fabric", "rail-spine", "--oversubscription", "2:1"},
           {"dgx-h100", "--boxes", "8"},
           {"dgx-b200", "--boxes", "2", "--sharp", "yes"},
           {"dgx-h100", "--boxes", "3", "--sharp", "yes"},
           {"dgx-h100", "--boxes", "4", "--fabric", "odd-even", "--sharp", "yes"},
           {"gb200-nvl72", "--boxes", "2"}}) {
    std::vector<std::string> generate = {"topo", "gen"};
    generate.insert(generate.end(), fabric.begin(), fabric.end());
    generate.insert(generate.end(), {"-o", file});
    ASSERT_EQ(run(generate).code, 0) << ::testing::PrintToString(fabric);
    const auto report = json_of({"compare", file, "--trees", "--json", "--sizes", "1K,1M,64M,1G",
                                 "--algorithms", "forestcoll,nvls"});
    const auto ours = row(report, "forestcoll"), theirs = row(report, "nvls");
    const std::string what = ::testing::PrintToString(fabric);
    ASSERT_TRUE(theirs.contains("algbw")) << what;
    EXPECT_GE(ours["algbw"]["value"].get<double>(), theirs["algbw"]["value"].get<double>()) << what;
    EXPECT_NEAR(ours["optimum_fraction"], 1, 1e-12) << what;
    EXPECT_LE(theirs["optimum_fraction"], 1 + 1e-12) << what;
    ASSERT_EQ(theirs["times"].size(), 4U) << what;
    for (std::size_t i = 0; i < theirs["times"].size(); ++i) {
      EXPECT_LE(ours["times"][i]["simulated_seconds"].get<double>(),
                theirs["times"][i]["simulated_seconds"].get<double>() * 1.005)
          << what << ours["times"][i]["bytes"];
    }
  }
}

TEST(CompareLong, ARowThatCannotExistSaysWhyAndTheOthersGoOn) {
  const auto report = compare_json({"--ranks", "0-5", "--sizes", "1M"}, "dgx-1-v100");
  EXPECT_EQ(row(report, "nvls")["error"]["code"], "B03");
  EXPECT_FALSE(row(report, "nvls").contains("algbw"));
  EXPECT_EQ(row(report, "forestcoll")["algbw"]["exact"], "125/2");
  EXPECT_EQ(row(report, "nccl-ring")["algbw"]["exact"], "30");
  const auto named =
      compare_json({"-c", "allgather", "--algorithms", "double-tree,forestcoll", "--sizes", "1M"});
  EXPECT_EQ(row(named, "double-tree")["error"]["code"], "B06");
  EXPECT_THAT(compare({"--ranks", "0-5", "--sizes", "1M"}, "dgx-1-v100").out, HasSubstr("[B03]"));
}

TEST(CompareLong, TimesAgreeWithTheRateOfLargeMessagesAndWithSimulate) {
  const auto report = compare_json(
      {"-c", "allgather", "--algorithms", "forestcoll", "--sizes", "64K,1T", "--gpu", "ideal"});
  const auto times = row(report, "forestcoll")["times"];
  ASSERT_EQ(times.size(), 2U);
  const double rate = row(report, "forestcoll")["algbw"]["value"];
  EXPECT_NEAR(times[1]["simulated_algbw"].get<double>(), rate, 0.01 * rate);
  const Scratch scratch;
  ASSERT_EQ(run({"synth", topology("dgx-a100-x2"), "-c", "allgather", "-k", "optimal", "--format",
                 "forest", "-o", scratch / "f.json"})
                .code,
            0);
  const auto simulated =
      nlohmann::json::parse(run({"simulate", scratch / "f.json", topology("dgx-a100-x2"), "--sizes",
                                 "64K,1T", "--gpu", "ideal", "--json"})
                                .out);
  EXPECT_DOUBLE_EQ(times[0]["simulated_seconds"].get<double>(),
                   simulated["times"][0]["simulated_seconds"].get<double>());
}

TEST(CompareLong, SchedulesFromFiles) {
  const Scratch scratch;
  const std::string own = scratch / "own.xml";
  ASSERT_EQ(run({"synth", "-k", "auto", topology("dgx-a100-x1"), "-o", own}).code, 0);
  const std::string gather = scratch / "gather.json";
  ASSERT_EQ(
      run({"synth", topology("dgx-a100-x1"), "-c", "allgather", "--format", "forest", "-o", gather})
          .code,
      0);
  const std::string other = scratch / "other.xml";
  ASSERT_EQ(run({"synth", "-k", "auto", topology("dgx-a100-x2"), "-o", other}).code, 0);
  const std::string no_schedule = scratch.write("no.xml", "<algo");
  const auto report =
      compare_json({"--algorithms", "forestcoll", "--schedule", own, "--schedule", gather,
                    "--schedule", other, "--schedule", no_schedule, "--sizes", "1M"},
                   "dgx-a100-x1");
  EXPECT_EQ(row(report, own)["algbw"]["exact"], "1200/7");
  EXPECT_EQ(row(report, own)["program_times"].size(), 1U);
  EXPECT_GT(row(report, own)["program_size"]["threadblocks"], 0);
  EXPECT_EQ(row(report, gather)["error"]["code"], "N08");
  EXPECT_THAT(row(report, other)["error"]["message"].get<std::string>(), HasSubstr("16"));
  EXPECT_THAT(row(report, no_schedule)["error"]["code"].get<std::string>(), StartsWith("V"));
  const std::string missing = scratch / "missing.xml";
  const auto without = compare_json(
      {"--algorithms", "forestcoll", "--schedule", missing, "--sizes", "1M"}, "dgx-a100-x1");
  EXPECT_THAT(row(without, missing)["error"]["message"].get<std::string>(), Not(IsEmpty()));
  EXPECT_EQ(row(without, "forestcoll")["times"].size(), 1U);
}

TEST(Compare, ForestFilesKeepTheirTrees) {
  const Scratch scratch;
  const std::string file = scratch / "f.json";
  ASSERT_EQ(
      run({"synth", topology("torus-4x4"), "-c", "allgather", "--format", "forest", "-o", file})
          .code,
      0);
  const auto report = compare_json(
      {"-c", "allgather", "--algorithms", "forestcoll", "--schedule", file, "--sizes", "1M"},
      "torus-4x4");
  for (const char* key : {"algbw", "height", "k", "trees", "busiest_link", "times"}) {
    EXPECT_EQ(row(report, file)[key], row(report, "forestcoll")[key]) << key;
  }
}

TEST(CompareLong, RootedCollectives) {
  const auto report = compare_json({"-c", "broadcast", "--root", "box0/gpu3", "--sizes", "1M"});
  EXPECT_EQ(report["root"], "box0/gpu3");
  EXPECT_FALSE(row(report, "forestcoll").contains("error"));
  EXPECT_EQ(compare({"-c", "broadcast"}).code, 2);
  EXPECT_EQ(compare({"--root", "0"}).code, 2);
}

TEST(CompareLong, ChangesOfTheFabricReachEveryRow) {
  const auto report = compare_json(
      {"--drop", "box0/nic3~ib1", "--algorithms", "forestcoll,double-tree", "--sizes", "1M"});
  EXPECT_THAT(report["changes"], Not(IsEmpty()));
  EXPECT_LT(report["optimum"]["value"], 173.3);
}

TEST(CompareLong, RefusesWhatMakesNoSense) {
  EXPECT_EQ(compare({"--algorithms", "forestcoll,quick"}).code, 2);
  EXPECT_THAT(compare({"--algorithms", "quick"}).err, HasSubstr("nccl-ring"));
  for (const std::string report : {"--json", "--csv", "--markdown", "--latex"}) {
    for (const std::string picture : {"--svg", "--html"}) {
      EXPECT_EQ(compare({report, picture, "-"}).code, 2) << report << picture;
    }
  }
  EXPECT_EQ(compare({"--gpu", "abacus"}).code, 2);
  EXPECT_EQ(compare({"--parameters", "/nowhere/p.json"}).code, 4);
  EXPECT_EQ(compare({"--json", "--csv"}).code, 2);
  EXPECT_EQ(compare({"--schedule", "-", "--nccl-graph", "-"}).code, 2);
  EXPECT_EQ(
      compare({"--algorithms", "forestcoll", "--sizes", "1M", "--html", "/nowhere/x.html"}).code,
      4);
  EXPECT_EQ(compare({"-c", "alltoallv"}).code, 2);
  EXPECT_EQ(compare({"-j", "0"}).code, 2);
  const auto nothing = compare({"--algorithms", "nvls", "--sizes", "1M", "--svg", "-"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("[N09]"));
}

// What AMD ships for these boxes is the default, so that nothing flatters us.
TEST(CompareLong, TakesTheVendorsRings) {
  const auto report = compare_json(
      {"-c", "allgather", "--algorithms", "forestcoll,nccl-ring", "--sizes", "1M"}, "mi250-x2");
  EXPECT_NEAR(row(report, "nccl-ring")["algbw"]["value"].get<double>(), 264.26, 0.005);
  EXPECT_THAT(row(report, "nccl-ring")["note"].get<std::string>(),
              HasSubstr("RCCL's rings for a box of eight MI250 modules"));
  EXPECT_THAT(report["who_wins"][0].get<std::string>(), HasSubstr("34 % more"));
  const auto searched = compare_json(
      {"-c", "allgather", "--algorithms", "nccl-ring", "--nccl-constants", "--sizes", "1M"},
      "mi250-x2");
  EXPECT_THAT(row(searched, "nccl-ring")["note"].get<std::string>(), HasSubstr("NCCL search"));
}

TEST(CompareLong, TheRingsOfADump) {
  const std::string rings = source_path("tests/baseline/mi250-rings.xml");
  const auto report = compare_json(
      {"-c", "allgather", "--algorithms", "nccl-ring", "--nccl-graph", rings, "--sizes", "1M"},
      "mi250-x2");
  EXPECT_NEAR(row(report, "nccl-ring")["algbw"]["value"].get<double>(), 264.26, 0.005);
  EXPECT_THAT(report["who_wins"], IsEmpty()) << "ours is not among the rows";
  const Scratch scratch;
  const std::string none = scratch.write(
      "none.xml",
      R"(<graphs version="1"><graph id="1" pattern="1" speedintra="20" speedinter="20" nchannels="1">
<channel><gpu dev="0"/><gpu dev="1"/></channel></graph></graphs>)");
  const auto refused = compare({"--nccl-graph", none});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, ::testing::AllOf(HasSubstr("none.xml: "), HasSubstr("[B07]")));
}

}  // namespace
}  // namespace forestcoll::testing
