// `forestcoll compare` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Result compare(const std::vector<std::string>& more, const std::string& fabric = "dgx-a100-x2") {
  std::vector<std::string> arguments = {"compare", topology(fabric)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

nlohmann::json compare_json(std::vector<std::string> more,
                            const std::string& fabric = "dgx-a100-x2") {
  more.emplace_back("--json");
  const auto result = compare(more, fabric);
  EXPECT_EQ(result.code, 0) << result.err;
  auto report = nlohmann::json::parse(result.out);
  expect_valid(report, "forestcoll-compare.schema.json");
  return report;
}

nlohmann::json row(const nlohmann::json& report, const std::string& algorithm) {
  for (const auto& candidate : report["rows"]) {
    if (candidate["algorithm"] == algorithm) return candidate;
  }
  ADD_FAILURE() << "no row " << algorithm;
  return {};
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

// The cells of a line, without their quotes.
std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

// A box whose switch copies and adds: 8 GPUs of 450 GB/s.
std::string combining_switch() {
  return R"({"format": "forestcoll-topology", "version": 1, "name": "NVLS box",
 "nodes": [{"id": "gpu[0-7]", "type": "compute", "box": "box"},
           {"id": "sw", "type": "switch", "box": "box", "multicast": true, "reduce": true}],
 "links": [{"src": "gpu[0-7]", "dst": "sw", "bandwidth": 450, "kind": "nvlink"}]})";
}

TEST(Compare, KnownAllreduceOnTwoBoxes) {
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
  EXPECT_EQ(ours["schedule"]["chunks"].get<int>() % 8, 0);
}

TEST(Compare, SaysSoWhereWeWinNothing) {
  const auto report = compare_json(
      {"-c", "allgather", "--algorithms", "forestcoll,nccl-ring", "--sizes", "1M"}, "dgx-1-v100");
  EXPECT_THAT(report["who_wins"][0].get<std::string>(),
              StartsWith("For large messages forestcoll wins nothing: nccl-ring moves the same "
                         "171.429 GB/s"));
}

TEST(Compare, SaysSoWhereWeLose) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", combining_switch());
  const auto result = run({"compare", file, "--json", "--sizes", "1M"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  expect_valid(report, "forestcoll-compare.schema.json");
  // C / (1 + 1/N) = 400, against 8 · 450 / 7 / 2 in two phases.
  EXPECT_EQ(row(report, "nvls")["algbw"]["exact"], "400");
  EXPECT_NEAR(row(report, "nvls")["optimum_fraction"], 400 * 14 / 3600.0, 1e-12);
  EXPECT_THAT(report["who_wins"][0].get<std::string>(),
              HasSubstr("nvls, the best of NCCL's ring, tree and NVLS, wins: it moves 400 GB/s, "
                        "56 % more than forestcoll's 257.143, by combining data inside switches"));
  EXPECT_THAT(run({"compare", file, "--sizes", "1M"}).out, HasSubstr("155.56 %"));
}

// Two messages of 1 + 1 us over two links of 0.5 us each, then 400 GB/s.
TEST(Compare, NvlsHasTimesInClosedForm) {
  const Scratch scratch;
  std::string text = combining_switch();
  text.replace(text.find("\"kind\""), 0, "\"latency\": 0.5, ");
  const std::string file = scratch.write("t.json", text);
  const auto result = run({"compare", file, "--json", "--sizes", "1K,1G", "--gpu", "a100",
                           "--algorithms", "forestcoll,nccl-ring,nvls"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  expect_valid(report, "forestcoll-compare.schema.json");
  const auto nvls = row(report, "nvls");
  EXPECT_EQ(nvls["simulated"], "closed-form");
  EXPECT_NEAR(nvls["times"][0]["seconds"].get<double>(), 6e-6 + 1024 / 400e9, 1e-12);
  EXPECT_NEAR(nvls["times"][1]["seconds"].get<double>(), 6e-6 + 1073741824 / 400e9, 1e-9);
  const auto last = report["who_wins"].back().get<std::string>();
  EXPECT_THAT(last, HasSubstr("the best of NCCL's ring, tree and NVLS: "));
  EXPECT_THAT(last, HasSubstr("nvls ahead"));
  EXPECT_THAT(last, Not(HasSubstr("forestcoll ahead at all sizes")));
}

// Rings that relay have a rate only: no sentence speaks of them at a size.
TEST(Compare, WhatHasNoTimesIsNotSpokenFor) {
  const auto report = compare_json(
      {"--algorithms", "forestcoll,ring,bfb", "-c", "allgather", "--sizes", "1M"}, "torus-4x4");
  EXPECT_EQ(row(report, "ring")["times_error"]["code"], "N06");
  EXPECT_THAT(report["who_wins"].back().get<std::string>(),
              HasSubstr("against bfb (ring: no times, so that nothing is said of it): "));
}

// Rates and times of all algorithms, on fabrics where reduce-scatter, then allgather is not the
// best allreduce. The simulation may be 0.1 % too fast.
void expect_none_above_optimum(const std::string& file) {
  const auto result =
      run({"compare", file, "--json", "--sizes", "256M", "--gpu", "ideal", "--algorithms",
           "forestcoll,nccl-ring,double-tree,multitree,bfb,greedy"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  expect_valid(report, "forestcoll-compare.schema.json");
  const double optimum = report["optimum"]["value"];
  EXPECT_GT(optimum, report["two_phases"]["value"].get<double>() * 1.001);
  double best = 0;
  for (const auto& row : report["rows"]) {
    if (row.contains("error")) continue;
    EXPECT_LE(row["algbw"]["value"].get<double>(), optimum * (1 + 1e-12)) << row["algorithm"];
    EXPECT_LE(row["optimum_fraction"].get<double>(), 1 + 1e-12) << row["algorithm"];
    for (const auto& time : row["times"]) {
      best = std::max(best, time["algbw"].get<double>());
      EXPECT_LE(time["algbw"].get<double>(), optimum * 1.002) << row["algorithm"];
    }
  }
  EXPECT_GT(best, 0);
}

TEST(CompareOptimum, IsExceededByNobodyOnTwoGenerations) {
  expect_none_above_optimum(topology("mixed-a100-h100"));
}

TEST(CompareOptimum, IsExceededByNobodyOnAMesh) {
  const Scratch scratch;
  ASSERT_EQ(run({"topo", "gen", "mesh", "--dims", "4x4", "-o", scratch / "mesh.json"}).code, 0);
  expect_none_above_optimum(scratch / "mesh.json");
}

TEST(CompareOptimum, IsNamedBesideThatOfTwoPhases) {
  const std::vector<std::string> few = {"--algorithms", "forestcoll", "--sizes", "1M"};
  const auto report = compare_json(few, "mixed-a100-h100");
  EXPECT_EQ(report["optimum"]["exact"], "175");
  EXPECT_EQ(report["two_phases"]["exact"], "400/3");
  EXPECT_EQ(report["allreduce_optimum"]["exact"], "175");
  for (const std::string format : {"", "--markdown", "--latex"}) {
    auto arguments = few;
    if (!format.empty()) arguments.push_back(format);
    const auto text = compare(arguments, "mixed-a100-h100").out;
    EXPECT_THAT(text, HasSubstr("optimum of allreduce (proved)")) << format;
    EXPECT_THAT(text, HasSubstr("reduce-scatter, then allgather (proved)")) << format;
  }
  auto svg = few;
  svg.insert(svg.end(), {"--svg", "-"});
  EXPECT_THAT(compare(svg, "mixed-a100-h100").out,
              HasSubstr("optimum of allreduce (proved): 175 GB/s"));
  auto gather = few;
  gather.insert(gather.end(), {"-c", "allgather"});
  const auto other = compare_json(gather, "mixed-a100-h100");
  EXPECT_EQ(other["optimum_name"], "optimum (proved)");
  EXPECT_FALSE(other.contains("two_phases"));
}

// 40 GPUs, no two links alike: the linear program would have 1,600 variables.
TEST(CompareOptimum, IsNotNamedWhereItIsNotKnown) {
  std::string links;
  for (int i = 0; i < 40; ++i) {
    for (int j = i + 1; j < 40; ++j) {
      links += std::string(links.empty() ? "" : ",") + R"({"src": "n)" + std::to_string(i) +
               R"(", "dst": "n)" + std::to_string(j) + R"(", "bandwidth": )" +
               std::to_string(100 + i * 40 + j) + "}";
    }
  }
  const Scratch scratch;
  const std::string file =
      scratch.write("t.json", R"({"format": "forestcoll-topology", "version": 1,
 "nodes": [{"id": "n[0-39]", "type": "compute"}], "links": [)" +
                                  links + "]}");
  const std::vector<std::string> arguments = {"compare", file,      "--algorithms",
                                              "greedy",  "--sizes", "1M"};
  const auto text = run(arguments).out;
  EXPECT_THAT(text, HasSubstr("reduce-scatter, then allgather (proved) "));
  EXPECT_THAT(text, HasSubstr("of two phases"));
  EXPECT_THAT(text, HasSubstr("[A01]; 2400 GB/s is the optimum of reduce-scatter, then"));
  EXPECT_THAT(text, Not(HasSubstr("optimum of allreduce")));
  auto json = arguments;
  json.push_back("--json");
  const auto report = nlohmann::json::parse(run(json).out);
  expect_valid(report, "forestcoll-compare.schema.json");
  EXPECT_EQ(report["optimum"], report["two_phases"]);
  EXPECT_TRUE(report["allreduce_optimum"].contains("not_computed"));
}

// The same trees have one rate, whoever names them: as an algorithm, as trees and as a program.
TEST(Compare, OneScheduleHasOneRate) {
  const Scratch scratch;
  const std::string program = scratch / "tree.xml", trees = scratch / "tree.json";
  for (const auto& [file, format] : {std::pair(program, "msccl"), std::pair(trees, "forest")}) {
    ASSERT_EQ(run({"synth", topology("dgx-1-v100"), "--algorithm", "double-tree", "--format",
                   format, "-o", file})
                  .code,
              0);
  }
  const auto report = compare_json(
      {"--algorithms", "double-tree", "--schedule", program, "--schedule", trees, "--sizes", "1M"},
      "dgx-1-v100");
  for (const auto& name : {std::string("double-tree"), program, trees}) {
    EXPECT_EQ(row(report, name)["algbw"]["exact"], "200/3") << name;
  }
}

// A program waits for its threadblocks: it is set against programs alone.
TEST(Compare, ProgramsAreComparedWithPrograms) {
  const Scratch scratch;
  const std::string own = scratch / "own.xml";
  ASSERT_EQ(run({"synth", topology("dgx-a100-x1"), "-k", "optimal", "-o", own}).code, 0);
  const std::vector<std::string> arguments = {
      "--algorithms", "forestcoll,nccl-ring", "--schedule", own, "--sizes", "1K,16M"};
  const auto report = compare_json(arguments, "dgx-a100-x1");
  EXPECT_EQ(row(report, own)["simulated"], "program");
  EXPECT_FALSE(row(report, own).contains("program_times"));
  EXPECT_EQ(row(report, "forestcoll")["simulated"], "trees");
  // Lowered as synth lowers them, our trees are that very program.
  EXPECT_EQ(row(report, "forestcoll")["program_times"], row(report, own)["times"]);
  EXPECT_EQ(row(report, "nccl-ring")["program_times"].size(), 2U);
  EXPECT_NE(row(report, "nccl-ring")["program_times"], row(report, "nccl-ring")["times"]);
  std::size_t of_trees = 0, of_programs = 0;
  for (const std::string sentence : report["who_wins"]) {
    if (sentence.starts_with("By size, trees without threadblocks")) {
      ++of_trees;
      EXPECT_THAT(sentence, Not(HasSubstr("the best of the others")));
    }
    of_programs += sentence.starts_with("By size, programs of threadblocks") ? 1 : 0;
  }
  EXPECT_EQ(of_trees, 1U);
  EXPECT_EQ(of_programs, 2U);
  EXPECT_THAT(report["who_wins"].back().get<std::string>(), HasSubstr("level at all sizes"));
  const auto text = compare(arguments, "dgx-a100-x1").out;
  EXPECT_THAT(text, HasSubstr("Times of trees without threadblocks"));
  EXPECT_THAT(text, HasSubstr("Times of programs of threadblocks"));
  auto csv = arguments;
  csv.push_back("--csv");
  std::size_t programs = 0;
  for (const auto& line : lines(compare(csv, "dgx-a100-x1").out)) {
    programs += csv_cells(line).back() == "program" ? 1 : 0;
  }
  EXPECT_EQ(programs, 3U * 2U);
}

struct Whose {
  const char *fabric, *gpu, *chosen;
};

TEST(Compare, TheFiguresAreThoseOfTheFabricsGpu) {
  for (const Whose& each :
       {Whose{"dgx-h100-x4-rail", "h100", "named by the fabric"},
        Whose{"mi250-x1", "mi250", "named by the fabric"},
        Whose{"dgx-1-v100", "v100", "named by the fabric"},
        Whose{"torus-4x4", "a100", "assumed: the fabric names no GPU"},
        Whose{"mixed-a100-h100", "a100", "assumed: the fabric names a100 and h100"}}) {
    const auto report =
        compare_json({"--algorithms", "nvls", "-c", "allreduce", "--sizes", "1M"}, each.fabric);
    EXPECT_EQ(report["model"]["gpu"], each.gpu) << each.fabric;
    EXPECT_THAT(report["model"]["chosen"].get<std::string>(), StartsWith(each.chosen));
  }
  const auto asked = compare_json({"--algorithms", "nvls", "--gpu", "ideal"}, "mi250-x1");
  EXPECT_EQ(asked["model"]["gpu"], "ideal");
  EXPECT_EQ(asked["model"]["chosen"], "as asked for");
}

TEST(Compare, SizesThatMakeNoSenseSayWhyAndTheOthersGoOn) {
  const auto report = compare_json({"--algorithms", "forestcoll", "--sizes", "1K,0,x"});
  ASSERT_EQ(report["refused_sizes"].size(), 2U);
  EXPECT_EQ(report["refused_sizes"][0]["size"], "0");
  EXPECT_EQ(report["refused_sizes"][1]["size"], "x");
  EXPECT_EQ(report["refused_sizes"][1]["code"], "M01");
  EXPECT_EQ(row(report, "forestcoll")["times"].size(), 1U);
  for (const std::string sizes : {"4G:1K", "0", "x", "1K:", "999999999999T"}) {
    const auto none = compare_json({"--algorithms", "forestcoll", "--sizes", sizes});
    EXPECT_EQ(none["refused_sizes"][0]["size"], sizes);
    EXPECT_EQ(row(none, "forestcoll")["times_error"]["code"], "M01") << sizes;
    EXPECT_FALSE(row(none, "forestcoll")["algbw"].empty()) << sizes;
  }
  EXPECT_THAT(compare({"--algorithms", "forestcoll", "--sizes", "1K,0"}).out,
              HasSubstr("size \"0\": expected a size"));
}

TEST(Compare, ARowThatCannotExistSaysWhyAndTheOthersGoOn) {
  const auto report = compare_json({"--ranks", "0-5", "--sizes", "1M"}, "dgx-1-v100");
  EXPECT_EQ(row(report, "nvls")["error"]["code"], "B03");
  EXPECT_FALSE(row(report, "nvls").contains("algbw"));
  EXPECT_EQ(row(report, "forestcoll")["algbw"]["exact"], "45");
  EXPECT_EQ(row(report, "nccl-ring")["algbw"]["exact"], "30");
  const auto named =
      compare_json({"-c", "allgather", "--algorithms", "double-tree,forestcoll", "--sizes", "1M"});
  EXPECT_EQ(row(named, "double-tree")["error"]["code"], "B06");
  EXPECT_THAT(compare({"--ranks", "0-5", "--sizes", "1M"}, "dgx-1-v100").out, HasSubstr("[B03]"));
}

TEST(Compare, TimesAgreeWithTheRateOfLargeMessagesAndWithSimulate) {
  const auto report = compare_json(
      {"-c", "allgather", "--algorithms", "forestcoll", "--sizes", "64K,1T", "--gpu", "ideal"});
  const auto times = row(report, "forestcoll")["times"];
  ASSERT_EQ(times.size(), 2U);
  const double rate = row(report, "forestcoll")["algbw"]["value"];
  EXPECT_NEAR(times[1]["algbw"].get<double>(), rate, 0.01 * rate);
  const Scratch scratch;
  ASSERT_EQ(run({"synth", topology("dgx-a100-x2"), "-c", "allgather", "-k", "optimal", "--format",
                 "forest", "-o", scratch / "f.json"})
                .code,
            0);
  const auto simulated =
      nlohmann::json::parse(run({"simulate", scratch / "f.json", topology("dgx-a100-x2"), "--sizes",
                                 "64K,1T", "--gpu", "ideal", "--json"})
                                .out);
  EXPECT_DOUBLE_EQ(times[0]["seconds"].get<double>(),
                   simulated["times"][0]["seconds"].get<double>());
}

TEST(Compare, SchedulesFromFiles) {
  const Scratch scratch;
  const std::string own = scratch / "own.xml";
  ASSERT_EQ(run({"synth", topology("dgx-a100-x1"), "-o", own}).code, 0);
  const std::string gather = scratch / "gather.json";
  ASSERT_EQ(
      run({"synth", topology("dgx-a100-x1"), "-c", "allgather", "--format", "forest", "-o", gather})
          .code,
      0);
  const std::string other = scratch / "other.xml";
  ASSERT_EQ(run({"synth", topology("dgx-a100-x2"), "-o", other}).code, 0);
  const std::string no_schedule = scratch.write("no.xml", "<algo");
  const auto report =
      compare_json({"--algorithms", "forestcoll", "--schedule", own, "--schedule", gather,
                    "--schedule", other, "--schedule", no_schedule, "--sizes", "1M"},
                   "dgx-a100-x1");
  EXPECT_EQ(row(report, own)["algbw"]["exact"], "1200/7");
  EXPECT_EQ(row(report, own)["times"].size(), 1U);
  EXPECT_GT(row(report, own)["schedule"]["threadblocks"], 0);
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

TEST(Compare, RootedCollectives) {
  const auto report = compare_json({"-c", "broadcast", "--root", "box0/gpu3", "--sizes", "1M"});
  EXPECT_EQ(report["root"], "box0/gpu3");
  EXPECT_FALSE(row(report, "forestcoll").contains("error"));
  EXPECT_EQ(compare({"-c", "broadcast"}).code, 2);
  EXPECT_EQ(compare({"--root", "0"}).code, 2);
}

TEST(Compare, ChangesOfTheFabricReachEveryRow) {
  const auto report = compare_json(
      {"--drop", "box0/nic3~ib1", "--algorithms", "forestcoll,double-tree", "--sizes", "1M"});
  EXPECT_THAT(report["changes"], Not(IsEmpty()));
  EXPECT_LT(report["optimum"]["value"], 173.3);
}

TEST(Compare, TerminalMarkdownAndLatexSayThatItIsAModel) {
  const std::vector<std::string> few = {"--algorithms", "forestcoll,nccl-ring,nvls", "--sizes",
                                        "1M,1G"};
  for (const std::string format : {"", "--markdown", "--latex"}) {
    auto arguments = few;
    if (!format.empty()) arguments.push_back(format);
    const auto result = compare(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("model, not measurement")) << format;
    EXPECT_THAT(result.out, HasSubstr("[B03]")) << format;
  }
}

// In a compiled document too.
TEST(Compare, LatexSaysItOutsideOfComments) {
  const auto result = compare(
      {"--latex", "--algorithms", "forestcoll,nccl-ring", "--sizes", "1M,1G"}, "dgx-a100-x1");
  std::size_t models = 0, sentences = 0;
  for (const std::string& line : lines(result.out)) {
    if (line.starts_with('%')) continue;
    models += line.find("model, not measurement") != std::string::npos ? 1 : 0;
    sentences += line.starts_with("For large messages") || line.starts_with("By size") ? 1 : 0;
  }
  EXPECT_EQ(models, 2U) << result.out;
  EXPECT_EQ(sentences, 2U) << result.out;
}

TEST(Compare, AFileTookNoTimeToMake) {
  const Scratch scratch;
  const std::string file = scratch / "f.json";
  ASSERT_EQ(run({"synth", topology("torus-4x4"), "--format", "forest", "-o", file}).code, 0);
  const auto text =
      compare({"--algorithms", "nccl-ring", "--schedule", file, "--sizes", "1M"}, "torus-4x4").out;
  EXPECT_THAT(text, HasSubstr("made in"));
  EXPECT_THAT(text, Not(HasSubstr("0.00 us")));
}

TEST(Compare, MarkdownHasEvenTables) {
  const auto result =
      compare({"--markdown", "--algorithms", "forestcoll,nccl-ring", "--sizes", "1M,1G"});
  std::size_t columns = 0, rows = 0;
  for (const std::string& line : lines(result.out)) {
    const auto bars = static_cast<std::size_t>(std::ranges::count(line, '|'));
    if (bars == 0) {
      columns = 0;
      continue;
    }
    if (columns == 0) columns = bars;
    EXPECT_EQ(bars, columns) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 5U + 4U);
  EXPECT_THAT(result.out, HasSubstr("**"));
}

TEST(Compare, LatexEscapesNames) {
  const Scratch scratch;
  std::string text = small_topology();
  text.replace(text.find("pair"), 4, "50%_#&~^{} pair");
  const std::string file = scratch.write("a_b.json", text);
  const auto forest = scratch / "f_1.json";
  ASSERT_EQ(run({"synth", file, "--format", "forest", "-o", forest}).code, 0);
  const auto result = run({"compare", file, "--latex", "--sizes", "1M", "--schedule", forest});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("f\\_1.json"));
  for (const std::string& line : lines(result.out)) {
    if (line.starts_with('%')) continue;
    EXPECT_FALSE(std::regex_search(line, std::regex("[^\\\\][%_#]"))) << line;
  }
}

TEST(Compare, CsvHasOneLinePerAlgorithmAndSize) {
  const auto result =
      compare({"--csv", "--algorithms", "forestcoll,nccl-ring,nvls", "--sizes", "1M,1G"});
  const auto all = lines(result.out);
  ASSERT_EQ(all.size(), 1U + 2U * 2U + 1U);
  for (const std::string& line : all) EXPECT_EQ(csv_cells(line).size(), 18U) << line;
  EXPECT_EQ(csv_cells(all[1]).back(), "trees");
  EXPECT_EQ(csv_cells(all[1])[5], "520/3");
  const auto json = compare_json({"--algorithms", "nvls", "--sizes", "1M"});
  EXPECT_EQ(csv_cells(all.back())[4],
            row(json, "nvls")["error"]["message"].get<std::string>() + " [B03]");
}

TEST(Compare, TheChartIsSvg) {
  const Scratch scratch;
  const auto result = compare({"--algorithms", "forestcoll,nccl-ring,double-tree", "--sizes",
                               "1K:4G:16", "--svg", scratch / "chart.svg"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string text = read_file(scratch / "chart.svg");
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(text.c_str())) << text;
  const auto svg = document.child("svg");
  EXPECT_EQ(std::string(svg.attribute("xmlns").value()), "http://www.w3.org/2000/svg");
  std::size_t series = 0;
  for (const auto group : svg.children("g")) {
    const std::string points = group.child("polyline").attribute("points").value();
    EXPECT_EQ(std::ranges::count(points, ','), 6) << points;
    ++series;
  }
  EXPECT_EQ(series, 3U);
  EXPECT_THAT(text, HasSubstr("model, not measurement"));
  EXPECT_THAT(text, HasSubstr("prefers-color-scheme:dark"));
}

TEST(Compare, TheChartEscapesNames) {
  const Scratch scratch;
  std::string text = small_topology();
  text.replace(text.find("pair"), 4, "A & B <'c'>");
  const auto result =
      run({"compare", scratch.write("t.json", text), "--sizes", "1M,1G", "--svg", "-"});
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(result.out.c_str())) << result.out;
  EXPECT_EQ(std::string(document.child("svg").attribute("aria-label").value()),
            "allreduce, A & B <'c'>");
}

TEST(Compare, TheChartShortensLongNames) {
  const Scratch scratch;
  const std::string file = scratch / "a-schedule-with-a-long-näme.json";
  ASSERT_EQ(run({"synth", topology("torus-4x4"), "--format", "forest", "-o", file}).code, 0);
  const auto svg =
      compare({"--algorithms", "forestcoll", "--schedule", file, "--sizes", "1M,1G", "--svg", "-"},
              "torus-4x4");
  EXPECT_THAT(svg.out, HasSubstr(">a-schedule-with-a-l…</text>"));
  EXPECT_THAT(svg.out, HasSubstr(">forestcoll</text>"));
}

TEST(Compare, SvgAndHtmlOnStandardOutputStandAlone) {
  const std::vector<std::string> few = {"--algorithms", "forestcoll", "--sizes", "1M,1G"};
  auto svg = few;
  svg.insert(svg.end(), {"--svg", "-"});
  EXPECT_THAT(compare(svg).out, StartsWith("<svg"));
  auto both = svg;
  both.insert(both.end(), {"--html", "-"});
  EXPECT_EQ(compare(both).code, 2);
}

TEST(Compare, ThePageIsWholeAndAsksForNothing) {
  const Scratch scratch;
  const std::vector<std::string> arguments = {"--algorithms", "forestcoll,nccl-ring,nvls",
                                              "--sizes",      "1M,1G",
                                              "--html",       scratch / "report.html"};
  const auto result = compare(arguments);
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string page = read_file(scratch / "report.html");
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, HasSubstr("model, not measurement"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  // Two charts and the fabric.
  std::size_t pictures = 0;
  for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at) ++pictures;
  EXPECT_EQ(pictures, 3U);
  const std::regex loads("(src|href|url)\\s*[=(]\\s*[\"']?(https?:)?//");
  EXPECT_FALSE(std::regex_search(page, loads));
  for (const std::string threads : {"1", "3"}) {
    auto again = arguments;
    again.insert(again.end(), {"-j", threads});
    ASSERT_EQ(compare(again).code, 0);
    EXPECT_EQ(read_file(scratch / "report.html"), page) << "same input, same bytes";
  }
}

TEST(Compare, TextFromTheFileCannotEndTheScript) {
  const Scratch scratch;
  std::string text = small_topology();
  text.replace(text.find("pair"), 4, "</script><script>alert(1)</script><!--");
  const auto result = run({"compare", scratch.write("t.json", text), "--sizes", "1M", "--html",
                           scratch / "report.html"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string page = read_file(scratch / "report.html");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = page.find("</script>", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2U);
}

TEST(Compare, WithoutGraphvizThePageSaysSo) {
  const Scratch scratch;
  const auto result = run({"compare", topology("dgx-a100-x1"), "--algorithms", "forestcoll",
                           "--sizes", "1M", "--html", scratch / "report.html"},
                          {.environment = {"PATH=/nowhere"}});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("[P01]"));
  EXPECT_THAT(read_file(scratch / "report.html"), HasSubstr("Not drawn: cannot start Graphviz"));
}

TEST(Compare, RefusesWhatMakesNoSense) {
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
  EXPECT_EQ(compare({"-c", "alltoall"}).code, 2);
  EXPECT_EQ(compare({"-j", "0"}).code, 2);
  const auto nothing = compare({"--algorithms", "nvls", "--sizes", "1M", "--svg", "-"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("[N09]"));
}

TEST(Compare, TheRingsOfADump) {
  const std::string rings = std::string(SOURCE_DIR) + "/tests/baseline/mi250-rings.xml";
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
  EXPECT_THAT(refused.err, HasSubstr("[B07]"));
}

}  // namespace
}  // namespace forestcoll::testing
