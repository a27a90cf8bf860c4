// `forestcoll compare --measured`: what nccl-tests prints, beside the model.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

constexpr const char* kHeading =
    "#\n"
    "#                                                       out-of-place                    "
    "in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    " "
    " algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us) "
    " "
    "(GB/s)  (GB/s)\n";

// 1 MiB in 104.86 us is 10 GB/s; 1 GiB in 10737.4 us is 100 GB/s.
constexpr const char* kTwoRows =
    "     1048576        262144     float     sum      -1   104.86   10.00   18.75      0    52.43 "
    "  "
    "20.00   37.50    N/A\n"
    "  1073741824     268435456     float     sum      -1  10737.4  100.00  187.50      0  10737.4 "
    " "
    "100.00  187.50      0\n"
    "# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 107.8\n";

std::string output() {
  std::string text =
      "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 1073741824 step: 1024(factor)\n"
      "#\n"
      "# Using devices\n";
  for (int rank = 0; rank < 16; ++rank) {
    text +=
        fmt::format("#  Rank {:2} Group  0 Pid  {} on      node0 device  {} [0x07] NVIDIA A100\n",
                    rank, 1000 + rank, rank % 8);
  }
  return text + kHeading + kTwoRows;
}

Result compare_measured(const std::vector<std::string>& more) {
  return run(joined({"compare", topology("dgx-a100-x2"), "--trees", "--algorithms",
                     "forestcoll,nccl-ring", "--sizes", "512K,2M,1G"},
                    more));
}

nlohmann::json measured_json(const std::string& text, const std::string& prefix = "") {
  const Scratch scratch;
  const auto result =
      compare_measured({"--json", "--measured", prefix + scratch.write("run.txt", text)});
  EXPECT_EQ(result.code, 0) << result.err;
  auto report = nlohmann::json::parse(result.out);
  expect_valid(report, "forestcoll-compare.schema.json");
  return report;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// As forestcoll-run prints it of a schedule that is for calls in place alone.
TEST(CompareMeasuredLong, OneGroupOfColumnsIsThePlacementThatItsTitleNames) {
  const char* table =
      "#                                                                in-place           \n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong  "
      "mpi-time  mpi-algbw  mpi-busbw\n"
      "     1048576        262144     float     sum      -1   104.86   10.00   18.75      0   "
      "209.72    5.00    9.38\n";
  const auto report = measured_json(table);
  ASSERT_EQ(report["measured"].size(), 1U);
  EXPECT_EQ(report["measured"][0]["placement"], "in-place");
  const auto unnamed = measured_json(replaced(table, "in-place", "        "));
  EXPECT_EQ(unnamed["measured"][0]["placement"], "out-of-place");
}

TEST(CompareMeasuredLong, AchievedOverModelled) {
  const auto report = measured_json(output());
  ASSERT_EQ(report["measured"].size(), 2U);
  const auto& out = report["measured"][0];
  const auto& in = report["measured"][1];
  EXPECT_EQ(out["placement"], "out-of-place");
  EXPECT_EQ(in["placement"], "in-place");
  EXPECT_EQ(out["algorithm"], "forestcoll");
  EXPECT_NEAR(out["times"][0]["measured_algbw"].get<double>(), 10, 0.01);
  EXPECT_NEAR(out["times"][0]["measured_busbw"].get<double>(), 18.75, 0.02);
  EXPECT_NEAR(in["times"][0]["measured_algbw"].get<double>(), 20, 0.01);
  // Simulated at the very size, whether or not it is among --sizes.
  const auto model = report["rows"][0]["times"];
  EXPECT_DOUBLE_EQ(out["times"][1]["simulated_algbw"].get<double>(),
                   model[2]["simulated_algbw"].get<double>());
  const auto at_size =
      nlohmann::json::parse(run({"compare", topology("dgx-a100-x2"), "--trees", "--algorithms",
                                 "forestcoll", "--sizes", "1M", "--json"})
                                .out)["rows"][0]["times"][0];
  EXPECT_DOUBLE_EQ(out["times"][0]["simulated_algbw"].get<double>(),
                   at_size["simulated_algbw"].get<double>());
  EXPECT_NEAR(out["times"][0]["achieved_fraction"].get<double>(),
              out["times"][0]["measured_algbw"].get<double>() /
                  out["times"][0]["simulated_algbw"].get<double>(),
              1e-12);
}

// forestcoll-run says on what it ran, and the emulation how much slower its links are.
TEST(CompareMeasuredLong, RunsThatAreNotOnGpusAreMarked) {
  const auto plain = measured_json(output())["measured"][0];
  EXPECT_FALSE(plain.contains("origin"));
  const auto on = [&](const std::string& origin) {
    return measured_json("# origin: " + origin + "\n" + output())["measured"][0];
  };
  for (const std::string origin : {"SimGrid", "MPI on this machine", "x, y", "x, -3 times slower",
                                   "x, inf times slower", "x, 1e999 times slower"}) {
    const auto marked = on(origin);
    EXPECT_EQ(marked["origin"], origin);
    EXPECT_EQ(marked["times"], plain["times"]);
  }
  const auto emulated = on("an emulated fabric, 20000 times slower");
  EXPECT_EQ(emulated["origin"], "Measured on an emulated fabric (its times divided by 20000)");
  for (std::size_t i = 0; i < 2; ++i) {
    const auto &slow = plain["times"][i], &time = emulated["times"][i];
    EXPECT_EQ(time["bytes"], slow["bytes"]);
    EXPECT_NEAR(time["measured_seconds"].get<double>() * 20000,
                slow["measured_seconds"].get<double>(), 1e-9);
    for (const char* rate : {"measured_algbw", "measured_busbw", "achieved_fraction"}) {
      EXPECT_NEAR(time[rate].get<double>(), slow[rate].get<double>() * 20000,
                  1e-6 * time[rate].get<double>());
    }
  }
  const Scratch scratch;
  const std::string file =
      scratch.write("run.txt", "# origin: an emulated fabric, 20000 times slower\n" + output());
  const auto text = compare_measured({"--measured", file});
  EXPECT_THAT(text.out,
              HasSubstr("Measured on an emulated fabric (its times divided by 20000): " + file));
  EXPECT_THAT(compare_measured({"--measured", file, "--csv"}).out, HasSubstr("emulated fabric"));
}

TEST(CompareMeasuredLong, BesideTheAlgorithmThatIsNamed) {
  const auto report = measured_json(output(), "nccl-ring=");
  EXPECT_EQ(report["measured"][0]["algorithm"], "nccl-ring");
  EXPECT_EQ(report["measured"][0]["times"][1]["simulated_algbw"],
            report["rows"][1]["times"][2]["simulated_algbw"]);
}

TEST(CompareMeasuredLong, OutsideOfTheOtherSizesThereIsAModelToo) {
  const auto report =
      measured_json(std::string(kHeading) +
                    "        1024           256     float     sum      -1    51.20    0.02    0.04 "
                    "     0    51.20    0.02    0.04      0\n");
  EXPECT_GT(report["measured"][0]["times"][0]["simulated_algbw"].get<double>(), 0);
  EXPECT_EQ(report["rows"][0]["times"].size(), 3U) << "only what --sizes asks for";
}

TEST(CompareMeasuredLong, OtherVersionsAndWrappers) {
  const auto expected = measured_json(output())["measured"][0]["times"];
  // What mpirun, Windows and other programs add.
  std::string tagged, ended;
  for (std::size_t at = 0; at < output().size();) {
    const std::size_t end = output().find('\n', at);
    tagged += "[1,0]<stdout>: " + output().substr(at, end - at) + "\n";
    ended += output().substr(at, end - at) + "\r\n";
    at = end + 1;
  }
  EXPECT_EQ(measured_json(tagged)["measured"][0]["times"], expected);
  EXPECT_EQ(measured_json(ended)["measured"][0]["times"], expected);
  EXPECT_EQ(measured_json(replaced(
                output(), "     1048576 ",
                "node0:17:17 [0] NCCL INFO Bootstrap\n     1048576 "))["measured"][0]["times"],
            expected);
  // Without redop and root, and with `error` in the place of #wrong, as of old.
  const auto old = measured_json(
      "#       size         count    type    time   algbw   busbw  error     time   algbw   busbw  "
      "error\n"
      "     1048576        262144   float  104.86   10.00   18.75  5e-07    52.43   20.00   37.50  "
      "5e-07\n");
  EXPECT_EQ(old["measured"][0]["times"][0], expected[0]);
  // One group of columns alone.
  const auto single = measured_json(
      "# size count type time algbw busbw #wrong\n"
      "1048576 262144 float 104.86 10.00 18.75 0\n");
  EXPECT_EQ(single["measured"].size(), 1U);
}

TEST(CompareMeasuredLong, WrongResultsAreAWarning) {
  const Scratch scratch;
  const auto result = compare(
      {"--measured", scratch.write("run.txt", replaced(output(), "18.75      0", "18.75     17"))});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("run.txt: 24: warning: wrong results in 1 row;"));
  EXPECT_THAT(result.err, HasSubstr("[N05]"));
}

TEST(CompareMeasuredLong, WrongResultsHaveNoRatio) {
  const std::string marked = replaced(output(), "18.75      0", "18.75     17");
  const std::string old_marked =
      "#       size         count    type    time   algbw   busbw  error\n"
      "     1048576        262144   float  104.86   10.00   18.75  3.1e+02\n"
      "  1073741824     268435456   float  10737.4  100.00  187.50  5e-07\n";
  for (const std::string& text : {marked, old_marked}) {
    const auto times = measured_json(text)["measured"][0]["times"];
    EXPECT_EQ(times[0]["wrong"], true);
    EXPECT_TRUE(times[0].contains("simulated_algbw"));
    EXPECT_FALSE(times[0].contains("achieved_fraction"));
    EXPECT_FALSE(times[1].contains("wrong"));
    EXPECT_TRUE(times[1].contains("achieved_fraction"));
    const Scratch scratch;
    EXPECT_THAT(compare_measured({"--measured", scratch.write("run.txt", text)}).out,
                HasSubstr("wrong results"));
  }
}

struct Bad {
  std::string text, code, says;
};

TEST(CompareMeasuredLong, ErrorsNameTheLine) {
  const std::string row = "     1048576        262144     float     sum      -1   104.86";
  const std::vector<Bad> all = {
      {"", "N01", "no table"},
      {"hello\n", "N01", "no table"},
      {kHeading, "N01", "has no rows"},
      {replaced(output(), row, row + " 7"), "N02", "run.txt: 24: expected 13 columns"},
      {replaced(output(), "104.86", "fast"), "N03", "run.txt: 24: time: expected a number"},
      {replaced(output(), "104.86", "-1"), "N03", "found \"-1\""},
      {replaced(output(), "104.86", "nan"), "N03", "found \"nan\""},
      {replaced(output(), "10.00 ", "99.00 "), "N03", "algbw 99.00 GB/s is not size / time"},
      {replaced(output(), "# nThread", "# Collective test starting: all_gather_perf\n# nThread"),
       "N04", "this is a run of allgather"},
      {replaced(output(), "10.00   18.75", "10.00    9.38"), "N04",
       "run.txt: 24: busbw 9.38 is not that of allreduce over 16 ranks, 1.875 times algbw 10"},
      {replaced(output(), " sum ", "none "), "N04", "this run only copies (redop \"none\")"},
      {replaced(output(), "     1048576  ", "        1e30  "), "N03", "size: expected whole bytes"},
      {replaced(output(), "#  Rank 15", "#  rank 15"), "N04",
       "a run of 15 ranks, the fabric has 16"},
  };
  for (const Bad& bad : all) {
    const Scratch scratch;
    const auto result = compare_measured({"--measured", scratch.write("run.txt", bad.text)});
    EXPECT_EQ(result.code, 2) << bad.says;
    EXPECT_THAT(result.err, HasSubstr(bad.says));
    EXPECT_THAT(result.err, HasSubstr("[" + bad.code + "]"));
    EXPECT_EQ(result.out, "");
  }
}

TEST(CompareMeasured, FilesAndNamesThatAreNotThere) {
  EXPECT_EQ(compare_measured({"--measured", "/nowhere/run.txt"}).code, 4);
  const Scratch scratch;
  const std::string file = scratch.write("run.txt", output());
  const auto without = expect_says(2,
                                   {"compare", topology("dgx-a100-x2"), "--trees", "--algorithms",
                                    "nccl-ring", "--sizes", "1M", "--measured", file},
                                   "forestcoll is not among the algorithms");
  EXPECT_THAT(without.err, HasSubstr("[N08]"));
  const auto unknown = compare_measured({"--measured", "quick=" + file});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("quick is not among the algorithms"));
}

TEST(CompareMeasuredLong, InEveryKindOfReport) {
  const Scratch scratch;
  const std::string file = scratch.write("run.txt", output());
  for (const std::string format : {"", "--markdown", "--latex"}) {
    std::vector<std::string> arguments = {"--measured", file};
    if (!format.empty()) arguments.push_back(format);
    const auto text = compare(arguments).out;
    EXPECT_THAT(text, HasSubstr("achieved")) << format;
    EXPECT_THAT(text, HasSubstr("beside forestcoll, trees without threadblocks")) << format;
  }
  EXPECT_THAT(compare_measured({"--csv", "--measured", file}).out,
              HasSubstr("measured out-of-place: "));
  EXPECT_THAT(compare_measured({"--svg", "-", "--measured", file}).out, HasSubstr("<circle"));
}

}  // namespace
}  // namespace forestcoll::testing
