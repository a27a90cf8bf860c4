// `forestcoll synth -c alltoall` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Words = std::vector<std::string>;

Result synth(Words words, const RunOptions& options = {}) {
  return run(joined({"synth", "-c", "alltoall"}, words), options);
}

TEST(SynthAlltoallLong, WritesXmlThatVerifyTakes) {
  const Scratch scratch;
  const std::string file = scratch / "alltoall.xml";
  const auto made = synth({topology("dgx-a100-x2"), "-o", file});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, AllOf(HasSubstr("alltoall over 16 GPUs"),
                              HasSubstr("algbw 50 GB/s, 100 % of the optimum 50 GB/s")));
  EXPECT_THAT(read_file(file), AllOf(HasSubstr("coll=\"alltoall\" inplace=\"0\" outofplace=\"1\""),
                                     HasSubstr("type=\"cpy\"")));
  const auto verdict = run_well({"verify", file, "--topology", topology("dgx-a100-x2")});
  EXPECT_THAT(verdict.out, HasSubstr("algbw on the topology: 50 GB/s"));
}

TEST(SynthAlltoallLong, WritesPlansThatVerifyTakes) {
  const Scratch scratch;
  const std::string fabric = scratch / "half.json", file = scratch / "plan.json";
  run_well({"topo", "convert", topology("dgx-a100-x2"), "--to", "topology", "--ranks",
            "box[0-1]/gpu[0-3]", "-o", fabric});
  for (const bool in_place : {false, true}) {
    Words words = {fabric, "-o", file, "--target", "mscclpp", "-v"};
    if (in_place) words.emplace_back("--inplace");
    const auto made = synth(words);
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.err, AllOf(HasSubstr("as a plan, which names no routes"),
                                HasSubstr("algbw 50 GB/s, 100 % of the optimum 50 GB/s")));
    const auto plan = nlohmann::json::parse(read_file(file));
    EXPECT_EQ(plan["collective"], "alltoall");
    EXPECT_EQ(plan["inplace"], in_place);
    const auto verdict = run({"verify", file, "--topology", fabric, "--json"});
    EXPECT_EQ(verdict.code, 0) << verdict.out;
    EXPECT_EQ(nlohmann::json::parse(verdict.out)["algbw"]["exact"], "50");
    run_well({"simulate", file, fabric, "--sizes", "1M"});
  }
}

TEST(SynthAlltoallLong, WritesFlowsThatFollowTheirSchema) {
  const Scratch scratch;
  const auto made = synth({topology("mi250-x1"), "--format", "flows", "-k", "4"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto json = nlohmann::json::parse(made.out);
  expect_valid(json, "forestcoll-flows.schema.json");
  EXPECT_EQ(json["k"], 4);
  EXPECT_EQ(json["algbw"]["exact"], "3200/43");
  EXPECT_EQ(json["optimum"]["exact"], "75");
  const std::string file = scratch.write("flows.json", made.out);
  const auto verdict = run({"verify", file, "--topology", topology("mi250-x1"), "--json"});
  EXPECT_EQ(verdict.code, 0) << verdict.out;
  const auto report = nlohmann::json::parse(verdict.out);
  expect_valid(report, "forestcoll-verify.schema.json");
  EXPECT_EQ(report["schedule"], "forestcoll-flows");
  EXPECT_EQ(report["algbw"]["exact"], "3200/43");
  EXPECT_EQ(run({"verify", file, "--topology", topology("mi250-x2")}).code, 1);
}

nlohmann::json simulated(const std::string& file, const std::string& fabric, Words words) {
  return json_of(joined({"simulate", file, fabric, "--gpu", "ideal", "--json"}, words),
                 "forestcoll-simulation.schema.json");
}

// Without costs and latencies, 2.0 GB/s is what the links of the torus carry.
TEST(SynthAlltoallLong, FlowsAndXmlAreSimulated) {
  const Scratch scratch;
  const std::string fabric = topology("torus-4x4"), file = scratch / "alltoall";
  for (const std::string format : {"flows", "msccl"}) {
    ASSERT_EQ(synth({fabric, "--format", format, "-o", file}).code, 0);
    const auto json = simulated(file, fabric, {"--sizes", "64M"});
    EXPECT_EQ(json["collective"], "alltoall");
    EXPECT_EQ(json["schedule"], format == "flows" ? "forestcoll-flows" : "msccl-xml");
    const double algbw = json["times"][0]["simulated_algbw"];
    EXPECT_LE(algbw, 2.0000001) << format;
    EXPECT_GE(algbw, format == "flows" ? 1.99 : 1.5);
    EXPECT_DOUBLE_EQ(json["times"][0]["simulated_busbw"], algbw * 15 / 16);
  }
}

// Of 30 and 10 bytes a direction and 5 that stay: 22 on average, and 30 B at 10 GB/s in the end.
TEST(SynthAlltoall, ADemandIsSimulatedAtItsOwnSize) {
  const Scratch scratch;
  const std::string pair = scratch.write("pair.json", small_topology());
  const std::string file = scratch / "flows.json";
  const std::string demand = scratch.write("bytes.csv", "0,30\n10,5\n");
  ASSERT_EQ(synth({pair, "--demand", demand, "--format", "flows", "-o", file}).code, 0);
  const auto own = simulated(file, pair, {"--latency", "=0"});
  EXPECT_EQ(own["collective"], "alltoallv");
  ASSERT_EQ(own["times"].size(), 1U);
  EXPECT_EQ(own["times"][0]["bytes"], 22);
  const auto larger = simulated(file, pair, {"--sizes", "22000", "--latency", "=0"});
  EXPECT_NEAR(larger["times"][0]["simulated_seconds"].get<double>(),
              1000 * own["times"][0]["simulated_seconds"].get<double>(), 1e-9);
}

TEST(SynthAlltoallLong, WritesBaselinesInBothFormats) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2"), file = scratch / "alltoall";
  for (const std::string name : {"nccl-pairwise", "nccl-pxn", "hierarchical", "bruck", "direct"}) {
    for (const std::string format : {"flows", "msccl"}) {
      const auto made =
          synth({fabric, "--algorithm", name, "--format", format, "-o", file, "--json"});
      ASSERT_EQ(made.code, 0) << made.err;
      const auto json = nlohmann::json::parse(made.out);
      expect_valid(json, "forestcoll-synth.schema.json");
      EXPECT_EQ(json["made_by"]["algorithm"], name);
      EXPECT_EQ(json["made_by"]["bound"]["exact"], "50");
      EXPECT_EQ(run({"verify", file, "--topology", fabric}).code, 0) << name << format;
    }
  }
}

// The best up to a number is no slower than any up to it.
TEST(SynthAlltoallLong, TheBestUpToANumberIsTheBest) {
  const Scratch scratch;
  const std::string ring = scratch / "ring.json";
  ASSERT_EQ(run({"topo", "gen", "biring(2,12)", "-o", ring}).code, 0);
  const auto rate = [&](const std::string& k) {
    const auto made = synth({ring, "-k", k, "--format", "none", "--json"});
    EXPECT_EQ(made.code, 0) << made.err;
    return nlohmann::json::parse(made.out)["algbw"]["value"].get<double>();
  };
  const double best = rate("max:9");
  for (const std::string k : {"4", "7", "8", "9", "auto"}) EXPECT_GE(best, rate(k)) << k;
}

TEST(SynthAlltoallLong, UnequalAmountsNeedADemand) {
  const std::string fabric = topology("dgx-a100-x1");
  for (const std::string command : {"synth", "bound", "compare"}) {
    const auto result = run({command, fabric, "-c", "AllToAllv"});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("no --demand says which"));
    EXPECT_THAT(result.err, HasSubstr("[S04]"));
  }
}

TEST(SynthAlltoall, FlowsOfNothingAreReportedByTheSchema) {
  const Scratch scratch;
  const std::string file = scratch.write(
      "flows.json", R"({"format": "forestcoll-flows", "version": 1, "collective": "x"})");
  const auto verdict = run({"verify", file, "--json"});
  EXPECT_EQ(verdict.code, 1);
  const auto report = nlohmann::json::parse(verdict.out);
  expect_valid(report, "forestcoll-verify.schema.json");
}

TEST(SynthAlltoallLong, ReportsAsJson) {
  for (const std::string format : {"msccl", "flows", "none"}) {
    const Scratch scratch;
    Words words = {topology("dgx-1-v100"), "--json", "--format", format};
    if (format != "none") words.insert(words.end(), {"-o", scratch / "out"});
    const auto made = synth(words);
    ASSERT_EQ(made.code, 0) << made.err;
    const auto json = nlohmann::json::parse(made.out);
    expect_valid(json, "forestcoll-synth.schema.json");
    EXPECT_EQ(json["collective"], "alltoall");
    EXPECT_EQ(json["optimum"]["exact"], "75");
    EXPECT_EQ(json["tradeoff"].size(), 7U);
    EXPECT_EQ(json.contains("rounds"), format != "msccl");
    EXPECT_EQ(json.contains("scratch"), format == "msccl");
  }
}

TEST(SynthAlltoall, TakesADemand) {
  const Scratch scratch;
  const std::string demand = scratch.write("bytes.csv", "0,30\n10,5\n");
  const std::string pair = scratch.write("pair.json", small_topology());
  const auto made = synth({pair, "--demand", demand, "--format", "flows"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto json = nlohmann::json::parse(made.out);
  expect_valid(json, "forestcoll-flows.schema.json");
  EXPECT_EQ(json["collective"], "alltoallv");
  EXPECT_EQ(json["own_bytes"], 5);
  EXPECT_EQ(json["pairs"][0]["bytes"], 30);
  const auto xml = synth({pair, "--demand", demand});
  EXPECT_EQ(xml.code, 3);
  EXPECT_THAT(xml.err, HasSubstr("unequal amounts [T09]"));
}

// Amounts that are equal after all are an all-to-all's, and so is the optimum.
TEST(SynthAlltoall, EqualAmountsHaveTheFiguresOfBlocks) {
  const Scratch scratch;
  const std::string demand = scratch.write("bytes.csv", "0,30\n30,5\n");
  const std::string pair = scratch.write("pair.json", small_topology());
  const auto report_of = [&](const Words& words) {
    Words all = {pair, "--json", "-o", scratch / "x.xml"};
    all.insert(all.end(), words.begin(), words.end());
    const auto made = synth(all);
    EXPECT_EQ(made.code, 0) << made.err;
    return nlohmann::json::parse(made.out);
  };
  for (const Words& how : {Words{}, Words{"--size", "1M"}, Words{"-k", "1"}}) {
    Words with = how;
    with.insert(with.end(), {"--demand", demand});
    const auto of_blocks = report_of(how), of_bytes = report_of(with);
    EXPECT_EQ(of_bytes["optimum"], of_blocks["optimum"]);
    EXPECT_EQ(of_bytes["reached"], of_blocks["reached"]);
  }
}

TEST(SynthAlltoall, SaysWhatWasChosenForASize) {
  const Scratch scratch;
  const auto made = synth({scratch.write("pair.json", small_topology()), "--size", "64K", "-v",
                           "-o", scratch / "x.xml"});
  EXPECT_THAT(made.err, AllOf(HasSubstr("fastest for this size, simulated: "),
                              HasSubstr("instance"), HasSubstr("times the lower bound")));
}

TEST(SynthAlltoallLong, RefusesInWords) {
  const Scratch scratch;
  const std::string pair = scratch.write("pair.json", small_topology());
  const std::vector<std::tuple<Words, int, std::string>> refused = {
      {{"--inplace"}, 3, "no alltoall in place [T06]"},
      {{"--format", "mscclpp", "--deploy", scratch / "here"}, 3, "for callers of its executor"},
      {{"--format", "mscclpp", "--proto", "LL"}, 2, "--proto is for MSCCL XML"},
      {{"--format", "forest"}, 2, "--format forest is for trees"},
      {{"--format", "dot"}, 2, "--format dot is for trees"},
      {{"--root", "0"}, 2, "alltoall has no root [S02]"},
      {{"--algorithm", "nccl-ring"}, 2, "nccl-ring has no alltoall of its own [B06]"},
      {{"--algorithm", "magic"}, 2, "no algorithm \"magic\" for alltoall [B09]"},
      {{"--cross-nic"}, 2, "--cross-nic is about trees"},
      {{"--effort", "max"}, 2, "--effort is about trees"},
      {{"--tune", "1M"}, 2, "name a directory with -o or --deploy"},
      {{"--tune", "1M", "--size", "1M"}, 2, "--tune has sizes of its own"},
      {{"--tune", "1M", "--algorithm", "direct"}, 2, "--algorithm is about one schedule"},
      {{"--tune", "1M", "--demand", pair}, 2, "--demand is about one schedule"},
      {{"--tune", "1M", "--format", "flows", "-o", "x"}, 2, "write schedules, not forests"},
      {{"--max-height", "2"}, 2, "--max-height is about trees"},
      {{"--threadblocks", "per-tree"}, 2, "--threadblocks per-tree is about trees"},
      {{"-k", "optimal"}, 2, "found \"optimal\" [S03]"},
      {{"-k", "0"}, 2, "found \"0\" [S03]"},
      {{"-k", "16385"}, 2, "[S03]"},
      {{"-k", "max:10000"}, 2, "[S03]"},
      {{"--format", "flows", "--target", "azure"}, 2, "--target is for schedules"},
      {{"--max-bytes", "1"}, 2, "[S03]"},
      {{"--json"}, 2, "[S04]"},
      {{"--threadblocks", "1"}, 3, "[T01]"},
  };
  for (auto [words, code, says] : refused) {
    words.insert(words.begin(), pair);
    const auto result = synth(words);
    EXPECT_EQ(result.code, code) << says << result.err;
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_TRUE(has_no_report(result));
  }
  expect_says(2, {"synth", pair, "--format", "flows"}, "--format flows is for -c alltoall");
  expect_says(2, {"synth", "-k", "auto", pair, "--demand", pair}, "--demand is for -c alltoall");
}

// Protocol, instances and buffers by size, each faster than what is written without a size.
TEST(SynthAlltoallLong, IsTheFastestForASize) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x1");
  ASSERT_EQ(synth({fabric, "-k", "auto", "-o", scratch / "any.xml"}).code, 0);
  const auto seconds = [&](const std::string& file, const std::string& size) {
    const auto times = json_of({"simulate", scratch / file, fabric, "--sizes", size, "--json"});
    return times["times"][0]["simulated_seconds"].get<double>();
  };
  for (const std::string size : {"4K", "1M", "256M"}) {
    const std::string name = size + ".xml", file = scratch / name;
    const auto made = synth({fabric, "--size", size, "-o", file, "--json"});
    ASSERT_EQ(made.code, 0) << made.err;
    const auto json = nlohmann::json::parse(made.out);
    expect_valid(json, "forestcoll-synth.schema.json");
    EXPECT_EQ(run({"verify", file, "--topology", fabric}).code, 0);
    EXPECT_NEAR(json["fastest"]["simulated_seconds"].get<double>(), seconds(name, size), 1e-12);
    EXPECT_LT(seconds(name, size), 0.9 * seconds("any.xml", size)) << size;
    EXPECT_THAT(read_file(file),
                HasSubstr("proto=\"" + json["fastest"]["protocol"].get<std::string>() + "\""));
  }
}

TEST(SynthAlltoallLong, TunesForSizes) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x1");
  for (const std::string target : {"azure", "rccl-6.3", "mscclpp-0.10"}) {
    const std::string directory = scratch / target;
    const auto made =
        synth({fabric, "--tune", "4K:64M:16", "--target", target, "-o", directory, "--json"});
    ASSERT_EQ(made.code, 0) << made.err;
    const auto json = nlohmann::json::parse(made.out);
    expect_valid(json, "forestcoll-tune.schema.json");
    EXPECT_EQ(json["collective"], "alltoall");
    EXPECT_EQ(json["target"], target);
    EXPECT_EQ(json["files"].front()["min_bytes"], 4096);
    EXPECT_EQ(json["files"].back()["max_bytes"], 16 << 20);
    for (const auto& each : json["files"]) {
      const std::string name = each["file"];
      EXPECT_THAT(name, HasSubstr("alltoall-8gpus-"));
      run_well({"verify", directory + "/" + name, "--topology", fabric});
    }
  }
}

TEST(SynthAlltoallLong, DeploysWhatIsTuned) {
  const Scratch scratch;
  const std::string directory = scratch / "deployed";
  const auto made = synth({topology("dgx-a100-x1"), "--tune", "4K,1M", "--deploy", directory});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(read_file(directory + "/run.sh"), HasSubstr("alltoall_perf"));
  EXPECT_THAT(read_file(directory + "/README.txt"), HasSubstr("algorithms/alltoall-8gpus-"));
}

TEST(SynthAlltoallLong, HasInstances) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x1"), file = scratch / "x.xml";
  for (const std::string instances : {"1", "2", "4", "8"}) {
    const auto made = synth({fabric, "-k", "auto", "--instances", instances, "-o", file, "--json"});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(nlohmann::json::parse(made.out)["chunks"], 8 * std::stoi(instances));
    const auto verdict = run({"verify", file, "--topology", fabric, "--json"});
    EXPECT_EQ(verdict.code, 0) << verdict.out;
    EXPECT_EQ(nlohmann::json::parse(verdict.out)["algbw"]["exact"], "2400/7");
  }
}

TEST(SynthAlltoallLong, OneSizeIsHeededAsSeveralAre) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2");
  const auto made = [&](const std::string& option, const std::string& size) {
    return run({"synth", fabric, "-c", "alltoall", option, size, "-v", "-o", scratch / "x.xml"});
  };
  const auto one = made("--size", "4K");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out + one.err, HasSubstr("at the size asked for"));
  const auto none = made("--size", "0");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--size"));
  expect_says(
      0,
      {"synth", fabric, "-c", "alltoall", "--size", "4K", "--sizes", "4K", "-o", scratch / "x.xml"},
      "buffers from 4 KiB to 4 KiB");
}

}  // namespace
}  // namespace forestcoll::testing
