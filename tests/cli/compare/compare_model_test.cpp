// `forestcoll compare` from outside: what is optimal, and what is simulated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/compare.hpp"

namespace forestcoll::testing {
namespace {

// Two messages of 1 + 1 us over two links of 0.5 us each, then 400 GB/s; ours does the same.
TEST(Compare, NvlsIsSimulatedLikeOtherTrees) {
  const Scratch scratch;
  std::string text = combining_switch();
  text.replace(text.find("\"kind\""), 0, "\"latency\": 0.5, ");
  const std::string file = scratch.write("t.json", text);
  const auto report = json_of({"compare", file, "--trees", "--json", "--sizes", "1K,1G", "--gpu",
                               "a100", "--algorithms", "forestcoll,nccl-ring,nvls"},
                              "forestcoll-compare.schema.json");
  for (const char* name : {"nvls", "forestcoll"}) {
    const auto each = row(report, name);
    EXPECT_EQ(each["simulated"], "trees") << name;
    const double large = 1073741824 / 400e9;
    EXPECT_NEAR(each["times"][0]["simulated_seconds"].get<double>(), 6e-6, 1e-8) << name;
    EXPECT_NEAR(each["times"][1]["simulated_seconds"].get<double>(), large, 0.02 * large) << name;
  }
  const auto last = report["who_wins"].back().get<std::string>();
  EXPECT_THAT(last, HasSubstr("the best of NCCL's ring, tree and NVLS: equal at all sizes"));
}

// Rings that relay have a rate only: no sentence speaks of them at a size.
TEST(Compare, WhatHasNoTimesIsNotSpokenFor) {
  const auto report = compare_json(
      {"--algorithms", "forestcoll,ring,bfb", "-c", "allgather", "--sizes", "1M"}, "torus-4x4");
  EXPECT_EQ(row(report, "ring")["times_error"]["code"], "N06");
  EXPECT_THAT(report["who_wins"].back().get<std::string>(),
              HasSubstr("compared with bfb (no times of ring): "));
}

// Rates and times of all algorithms, on fabrics where reduce-scatter, then allgather is not the
// best allreduce. The simulation may be 0.1 % too fast.
void expect_none_above_optimum(const std::string& file) {
  const auto report =
      json_of({"compare", file, "--trees", "--json", "--sizes", "256M", "--gpu", "ideal",
               "--algorithms", "forestcoll,nccl-ring,double-tree,multitree,bfb,greedy"},
              "forestcoll-compare.schema.json");
  const double optimum = report["optimum"]["value"];
  EXPECT_GT(optimum, report["two_phases"]["value"].get<double>() * 1.001);
  double best = 0;
  for (const auto& row : report["rows"]) {
    if (row.contains("error")) continue;
    EXPECT_LE(row["algbw"]["value"].get<double>(), optimum * (1 + 1e-12)) << row["algorithm"];
    EXPECT_LE(row["optimum_fraction"].get<double>(), 1 + 1e-12) << row["algorithm"];
    for (const auto& time : row["times"]) {
      best = std::max(best, time["simulated_algbw"].get<double>());
      EXPECT_LE(time["simulated_algbw"].get<double>(), optimum * 1.002) << row["algorithm"];
    }
  }
  EXPECT_GT(best, 0);
}

TEST(CompareOptimumLongest, IsExceededByNobodyOnTwoGenerations) {
  expect_none_above_optimum(topology("mixed-a100-h100"));
}

TEST(CompareOptimumLongest, IsExceededByNobodyOnAMesh) {
  const Scratch scratch;
  ASSERT_EQ(run({"topo", "gen", "mesh", "--dims", "4x4", "-o", scratch / "mesh.json"}).code, 0);
  expect_none_above_optimum(scratch / "mesh.json");
}

TEST(CompareOptimumLongest, IsNamedBesideThatOfTwoPhases) {
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

// 40 GPUs, no two links alike: a linear program of 1,600 variables.
TEST(CompareOptimumLong, IsNamedWhereNothingIsAlike) {
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
  const std::vector<std::string> arguments = {"compare", file,      "--trees", "--algorithms",
                                              "greedy",  "--sizes", "1M"};
  EXPECT_THAT(run(arguments).out, HasSubstr("optimum of allreduce (proved)"));
  auto json = arguments;
  json.push_back("--json");
  const auto report = nlohmann::json::parse(run(json).out);
  expect_valid(report, "forestcoll-compare.schema.json");
  EXPECT_EQ(report["allreduce_optimum"]["exact"], "4680");
  EXPECT_EQ(report["two_phases"]["exact"], "2400");
}

// The same trees have one rate, whoever names them: as an algorithm, as trees and as a program.
TEST(CompareLong, OneScheduleHasOneRate) {
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
TEST(CompareLong, ProgramsAreComparedWithPrograms) {
  const Scratch scratch;
  const std::string own = scratch / "own.xml";
  ASSERT_EQ(run({"synth", topology("dgx-a100-x1"), "-k", "optimal", "-o", own}).code, 0);
  const std::vector<std::string> arguments = {
      "--algorithms", "forestcoll,nccl-ring", "--schedule", own, "--sizes", "1K,16M"};
  const auto report = compare_json(arguments, "dgx-a100-x1");
  EXPECT_EQ(row(report, own)["simulated"], "program");
  EXPECT_FALSE(row(report, own).contains("times"));
  EXPECT_EQ(row(report, "forestcoll")["simulated"], "trees");
  // Lowered as synth lowers them, our trees are that very program.
  EXPECT_EQ(row(report, "forestcoll")["program_times"], row(report, own)["program_times"]);
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
  EXPECT_THAT(report["who_wins"].back().get<std::string>(), HasSubstr("equal at all sizes"));
  const auto text = compare(arguments, "dgx-a100-x1").out;
  EXPECT_THAT(text, HasSubstr("Simulated times of trees without threadblocks"));
  EXPECT_THAT(text, HasSubstr("Simulated times of programs of threadblocks"));
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

TEST(CompareLong, TheFiguresAreThoseOfTheFabricsGpu) {
  for (const Whose& each :
       {Whose{"dgx-h100-x4-rail", "h100", "named by the fabric"},
        Whose{"mi250-x1", "mi250", "named by the fabric"},
        Whose{"dgx-1-v100", "v100", "named by the fabric"},
        Whose{"torus-4x4", "a100", "assumed: the fabric names no GPU"},
        Whose{"mixed-a100-h100", "a100", "assumed: the fabric names a100 and h100"}}) {
    const auto report =
        compare_json({"--algorithms", "nvls", "-c", "allreduce", "--sizes", "1M"}, each.fabric);
    EXPECT_EQ(report["parameters"]["name"], each.gpu) << each.fabric;
    EXPECT_THAT(report["parameters"]["chosen"].get<std::string>(), StartsWith(each.chosen));
  }
  const auto asked = compare_json({"--algorithms", "nvls", "--gpu", "ideal"}, "mi250-x1");
  EXPECT_EQ(asked["parameters"]["name"], "ideal");
  EXPECT_EQ(asked["parameters"]["chosen"], "as asked for");
}

TEST(CompareLong, SizesThatMakeNoSenseSayWhyAndTheOthersGoOn) {
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

}  // namespace
}  // namespace forestcoll::testing
