// Failures, weights, limits and bad ends from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string weighted_topology() {
  return R"({"format": "forestcoll-topology", "version": 1, "name": "weighted",
 "nodes": [{"id": "gpu[0-1]", "type": "compute", "weight": "3/2"},
           {"id": "gpu2", "type": "compute", "weight": 0}, {"id": "gpu3", "type": "compute"},
           {"id": "sw", "type": "switch"}],
 "links": [{"src": "gpu[0-3]", "dst": "sw", "bandwidth": 25}]})";
}

// A search that takes many seconds: thousands of k on half a thousand GPUs.
std::vector<std::string> long_search(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {
      "synth", topology("torus-8x8x8"), "-c", "allgather", "-k", "max:10000", "--format", "forest"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Failures, BoundSaysWhatIsGoneAndWhatThatCosts) {
  const auto bound = run_well({"bound", topology("dgx-a100-x2"), "--drop", "box0/nic3~ib1",
                               "--derate", "box1/nic0~ib0=1/2", "--json", "--check"});
  const auto json = nlohmann::json::parse(bound.out);
  expect_valid(json, "forestcoll-bound.schema.json");
  EXPECT_EQ(json["algbw"]["allgather"]["exact"], "320");
  EXPECT_EQ(json["changes"].size(), 2U);
  EXPECT_THAT(bound.err, HasSubstr("dropped box0/nic3~ib1 (1 link)\n"));
  EXPECT_THAT(bound.err, HasSubstr("derated box1/nic0~ib0 to 1/2 (1 link)\n"));
}

TEST(FailuresLong, SynthesisOnWhatIsLeftPassesItsOwnCheck) {
  const Scratch scratch;
  for (const std::string format : {"msccl", "forest"}) {
    expect_says(0,
                {"synth", topology("dgx-a100-x2"), "--drop", "box0/nic3", "--ranks",
                 "box0,box1/gpu[0-3]", "-k", "auto", "--format", format, "-o", scratch / "s"},
                "allreduce over 12 GPUs");
  }
}

TEST(Failures, AMisspeltNameIsSuggested) {
  const auto bound = expect_says(2, {"bound", topology("dgx-a100-x2"), "--drop", "box0/nik3"},
                                 "dgx-a100-x2.json: --drop: no node and no box is called");
  EXPECT_THAT(bound.err, HasSubstr("Did you mean \"box0/nic3\"?"));
  expect_says(2, {"bound", topology("dgx-a100-x2"), "--drop", "kind=ib"}, "[E09]");
}

TEST(WarmLong, KeepsTreesAtTheNewOptimum) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2");
  for (const std::string collective : {"allgather", "reduce_scatter", "allreduce"}) {
    const std::string before = scratch / "before.json";
    const std::string after = scratch / "after.json";
    ASSERT_EQ(run({"synth", fabric, "-c", collective, "--format", "forest", "-o", before}).code, 0);
    const auto warm = run_well({"synth", fabric, "-c", collective, "--format", "forest", "--drop",
                                "box0/nic3~ib1", "--warm", before, "-o", after, "--json"});
    const auto json = nlohmann::json::parse(warm.out);
    expect_valid(json, "forestcoll-synth.schema.json");
    EXPECT_EQ(json["algbw"], json["optimum"]);
    EXPECT_GT(json["kept"]["kept_trees"], 0);
    // Both phases of an allreduce at once are faster then, and leave less of one after the other.
    EXPECT_GT(json["kept"]["kept_share"], collective == "allreduce" ? 0.4 : 0.8);
    EXPECT_GT(json["kept"]["touched_trees"], 0);
    EXPECT_THAT(warm.err, HasSubstr("touched by the failure"));
  }
}

TEST(WarmLong, ASymmetricForestIsAsGoodAsItsTrees) {
  const Scratch scratch;
  for (const auto& [name, dropped, collective] :
       {std::tuple("dgx-a100-x4", "box0/nic3", "allreduce"),
        {"torus-4x4", "n0x0~n0x1", "allreduce"},
        {"mi250-x2", "box0/die3~ib", "reduce_scatter"}}) {
    std::vector<std::string> after;
    for (const std::string format : {"forest", "forest-symmetric"}) {
      const std::string before = scratch / format;
      ASSERT_EQ(run({"synth", topology(name), "-c", collective, "-k", "2", "--format", format, "-o",
                     before})
                    .code,
                0);
      const auto warm =
          run_well({"synth", topology(name), "-c", collective, "-k", "2", "--format", "forest",
                    "--drop", dropped, "--effort", "fast", "--warm", before});
      EXPECT_THAT(warm.err, Not(HasSubstr(": 0 kept")));
      after.push_back(warm.out);
    }
    EXPECT_EQ(after[0], after[1]) << name;
  }
}

// A switch that then lets out less than it takes in is beyond the theorem about the rest: what can
// stay stays all the same, at the rate of a packing from scratch.
TEST(WarmLong, KeepsTreesWhereOneDirectionIsGone) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2");
  for (const std::string collective : {"allgather", "reduce_scatter", "allreduce"}) {
    const std::string before = scratch / (collective + ".json");
    const std::vector<std::string> asked = {"synth",    fabric,     "-c",
                                            collective, "--format", "forest"};
    auto previous = asked;
    previous.insert(previous.end(), {"-o", before});
    ASSERT_EQ(run(previous).code, 0);
    for (const std::string drop : {"box0/nic3->ib1", "ib0->box1/nic2"}) {
      auto fresh = asked;
      fresh.insert(fresh.end(), {"--drop", drop, "-o", scratch / "fresh.json", "--json"});
      auto warm = asked;
      warm.insert(warm.end(),
                  {"--drop", drop, "-o", scratch / "warm.json", "--json", "--warm", before});
      const auto anew = run(fresh), kept = run(warm);
      ASSERT_EQ(anew.code, 0) << anew.err;
      ASSERT_EQ(kept.code, 0) << kept.err;
      EXPECT_THAT(kept.err, HasSubstr("[W01]"));
      EXPECT_THAT(anew.err, HasSubstr("[W01]"));
      const auto summary = nlohmann::json::parse(kept.out);
      // Trees of both phases at once are for parts of the links that the loss changes.
      const double least = collective == "allreduce" ? 0.95 : 1;
      EXPECT_GE(summary["algbw"]["value"].get<double>(),
                least * nlohmann::json::parse(anew.out)["algbw"]["value"].get<double>())
          << collective << drop;
      EXPECT_THAT(kept.err, Not(HasSubstr(": 0 kept"))) << collective << drop;
    }
  }
  const auto both = run_well({"bound", fabric, "--drop", "box0/nic3~ib1"});
  EXPECT_THAT(both.err, Not(HasSubstr("[W01]")));
}

TEST(WarmLong, SaysWhatIsWrongWithThePreviousForest) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2");
  const std::string before = scratch / "before.json";
  ASSERT_EQ(run({"synth", fabric, "-c", "allgather", "--format", "forest", "-o", before}).code, 0);
  expect_says(2, {"synth", fabric, "--warm", before}, "is for allgather, not for allreduce [R02]");
  expect_says(2, {"synth", topology("dgx-1-v100"), "-c", "allgather", "--warm", before}, "[F02]");
  expect_says(2, {"synth", fabric, "--warm", fabric}, "[F01]");
  EXPECT_EQ(run({"synth", fabric, "--warm", scratch / "nothing"}).code, 4);
}

TEST(Weights, AllReportsAndFormatsKnowThem) {
  const Scratch scratch;
  const std::string fabric = scratch.write("w.json", weighted_topology());
  const auto json = json_of({"bound", fabric, "--check", "--json"}, "forestcoll-bound.schema.json");
  EXPECT_EQ(json["weights"], nlohmann::json({3, 3, 0, 2}));
  EXPECT_EQ(json["algbw"]["allgather"]["exact"], "25");
  EXPECT_THAT(run({"bound", fabric}).out,
              HasSubstr("weights: 1 rank owns 0, 1 rank owns 2, 2 ranks own 3\n"));
  for (const std::string collective : {"allgather", "reduce_scatter", "allreduce"}) {
    const auto synth = expect_says(0, {"synth", fabric, "-c", collective, "--format", "forest"},
                                   "100 % of the optimum");
    expect_valid(nlohmann::json::parse(synth.out), "forestcoll-forest.schema.json");
    const auto verify = run({"verify", "-", "--topology", fabric}, {.input = synth.out});
    EXPECT_EQ(verify.code, 0) << verify.out;
  }
  EXPECT_THAT(run({"synth", fabric, "--format", "forest-xml"}).out,
              HasSubstr("weights=\"3,3,0,2\""));
  EXPECT_EQ(run({"synth", fabric, "--format", "dot"}).code, 0);
  EXPECT_EQ(run({"topo", "check", fabric}).code, 0);
}

// The same without a GPU that owns nothing, which no plan can have.
std::string weighted_boxes() {
  std::string text = weighted_topology();
  return text.replace(text.find("\"weight\": 0"), 11, "\"weight\": 1");
}

TEST(WeightsLong, ScheduleFilesKnowThem) {
  const Scratch scratch;
  const std::string fabric = scratch.write("w.json", weighted_boxes());
  const auto bound = nlohmann::json::parse(run({"bound", fabric, "--json"}).out);
  for (const std::string collective : {"allgather", "reduce_scatter"}) {
    for (const std::string format : {"msccl", "mscclpp"}) {
      for (const std::string placement : {"--inplace", "--outofplace"}) {
        const std::string file = scratch / "schedule";
        const auto synth = expect_says(0,
                                       {"synth", fabric, "-c", collective, "--format", format,
                                        placement, "--json", "-o", file},
                                       "only if every rank has the part of the data that the "
                                       "file gives it");
        EXPECT_THAT(synth.err, Not(HasSubstr("--deploy")));
        const auto summary = nlohmann::json::parse(synth.out);
        expect_valid(summary, "forestcoll-synth.schema.json");
        EXPECT_EQ(summary["optimum"]["exact"], bound["algbw"][collective]["exact"]);
        const auto verify = run({"verify", file, "--topology", fabric, "--json"});
        ASSERT_EQ(verify.code, 0) << verify.out;
        const auto verdict = nlohmann::json::parse(verify.out);
        expect_valid(verdict, "forestcoll-verify.schema.json");
        EXPECT_EQ(verdict["algbw"], summary["reached"]);
        run_well({"simulate", file, fabric, "--sizes", "9M", "--json"});
      }
    }
  }
}

TEST(Weights, WhatNoCallCouldServeIsRefused) {
  const Scratch scratch;
  const std::string fabric = scratch.write("w.json", weighted_topology());
  const auto refused = [&](std::vector<std::string> more, const std::string& says) {
    const auto synth = run(joined({"synth", fabric, "-c", "allgather"}, more));
    EXPECT_EQ(synth.code, 3) << synth.err;
    EXPECT_EQ(synth.out, "");
    EXPECT_THAT(synth.err, HasSubstr(says));
  };
  refused({"--target", "msccl"},
          "rank 0 has weight 3, rank 2 has 0), and target msccl loads files "
          "of equal shares alone [T09]");
  refused({"--inplace", "--outofplace"}, "make two files, one with --inplace");
  refused({"--format", "mscclpp"}, "no rank without data, as rank 2 is [T09]");
  refused({"--deploy", scratch / "d"}, "NCCL's allgather, which gives all ranks as much");
  run_well({"synth", "-k", "auto", "-", "-c", "broadcast", "--root", "2"},
           {.input = weighted_topology()});
}

// Others' trees, as wide as their roots' shares; those that know equal shares alone say so.
TEST(WeightsLong, AreComparedAndMadeInBatches) {
  const Scratch scratch;
  const std::string fabric = scratch.write("w.json", weighted_boxes());
  const auto compare = run_well({"compare", fabric, "-c", "allgather", "--json"});
  const auto report = nlohmann::json::parse(compare.out);
  expect_valid(report, "forestcoll-compare.schema.json");
  std::size_t with_rate = 0;
  for (const auto& row : report["rows"]) {
    if (!row.contains("algbw")) continue;
    ++with_rate;
    EXPECT_LE(row["algbw"]["value"], report["optimum"]["value"]) << row;
  }
  EXPECT_GT(with_rate, 5U) << compare.out;
  const auto with_none = scratch.write("n.json", weighted_topology());
  EXPECT_THAT(run({"compare", with_none, "-c", "allgather"}).out,
              HasSubstr("nccl-ring is for ranks that all own some"));
  std::filesystem::create_directory(scratch / "in");
  std::filesystem::copy(fabric, scratch / "in/w.json");
  run_well({"batch", scratch / "in", "-o", scratch / "out", "-c", "allgather", "--format", "msccl",
            "--json"});
}

TEST(TimeLimitLong, LeavesTheBestSoFarAndSaysItsGap) {
  const Scratch scratch;
  const auto synth =
      run_well(long_search({"--time-limit", "0.3", "--json", "-o", scratch / "f.json"}));
  const auto json = nlohmann::json::parse(synth.out);
  expect_valid(json, "forestcoll-synth.schema.json");
  EXPECT_EQ(json["stopped_early"]["reason"], "time limit");
  EXPECT_GE(json["stopped_early"]["gap"], 0);
  EXPECT_LT(json["stopped_early"]["gap"], 1);
  EXPECT_THAT(synth.err, HasSubstr("stopped by the time limit: the best so far"));
  const auto verify = run({"verify", scratch / "f.json", "--topology", topology("torus-8x8x8")});
  EXPECT_EQ(verify.code, 0) << verify.out;
}

TEST(TimeLimit, IsNotMentionedWhereThereWasTime) {
  const auto limited = run_well({"synth", topology("dgx-a100-x2"), "--time-limit", "50"});
  EXPECT_THAT(limited.err, Not(HasSubstr("stopped")));
  EXPECT_EQ(limited.out, run({"synth", "-k", "auto", topology("dgx-a100-x2")}).out);
}

TEST(TimeLimit, BeforeTheOptimumIsKnownThereIsABoundAndNoFile) {
  const Scratch scratch;
  ASSERT_EQ(run({"topo", "gen", "torus", "--dims", "32x32", "-o", scratch / "t.json"}).code, 0);
  const auto synth = expect_says(3,
                                 {"synth", scratch / "t.json", "-c", "allgather", "--format",
                                  "forest", "--time-limit", "1e-9", "-o", scratch / "f.json"},
                                 "a cut proves that it is 4096/1023 GB/s at most");
  EXPECT_THAT(synth.err, HasSubstr("[R01]"));
  EXPECT_THAT(scratch.names(), ::testing::ElementsAre("t.json"));
}

TEST(TimeLimit, EndsTheTradeoffToo) {
  const auto synth = run_well({"synth", topology("dgx-a100-x2"), "--format", "none", "--json",
                               "--tradeoff", "--time-limit", "1e-9"});
  const auto json = nlohmann::json::parse(synth.out);
  expect_valid(json, "forestcoll-synth.schema.json");
  EXPECT_EQ(json["tradeoff_by"]["stopped"], true);
  EXPECT_TRUE(json["tradeoff_by"]["by_height"].empty());
  EXPECT_THAT(synth.err, HasSubstr("there may be more rows"));
}

TEST(TimeLimitLong, WithoutAnAnswerThatFitsItDoesNotFit) {
  const Scratch scratch;
  auto arguments = long_search({"--time-limit", "0.3", "-o", scratch / "s.xml", "--sms", "1"});
  arguments[7] = "msccl";
  const auto synth = run(arguments);
  EXPECT_EQ(synth.code, 3) << synth.err;
  EXPECT_THAT(scratch.names(), IsEmpty());
}

// Sends the signal when the program has had some time to begin.
RunOptions interrupted_by(int number) {
  return {.before_exec = [number] {
    const pid_t program = getpid();
    if (fork() != 0) return;
    usleep(300'000);
    kill(program, number);
    _exit(0);
  }};
}

TEST(Signals, EndTheProgramWithAMessageAndNoFile) {
  for (const auto& [number, says] : {std::pair(SIGINT, "forestcoll: interrupted; no file"),
                                     std::pair(SIGTERM, "forestcoll: terminated; no file")}) {
    const Scratch scratch;
    const auto synth = run(long_search({"-o", scratch / "f.json"}), interrupted_by(number));
    EXPECT_EQ(synth.code, 128 + number);
    EXPECT_THAT(synth.err, HasSubstr(says));
    EXPECT_EQ(synth.out, "");
    EXPECT_THAT(scratch.names(), IsEmpty());
  }
}

#ifndef WITH_ADDRESS_SANITIZER
constexpr rlim_t kMegabyte = rlim_t{1} << 20;

TEST(OutOfMemory, IsSaidAndLeavesNoFile) {
  const Scratch scratch;
  const std::string fabric =
      scratch.write("star.json", R"({"format": "forestcoll-topology", "version": 1,
 "nodes": [{"id": "gpu[0-3999]", "type": "compute"}, {"id": "sw", "type": "switch"}],
 "links": [{"src": "gpu[0-3999]", "dst": "sw", "bandwidth": 25}]})");
  const auto synth = expect_says(
      3, {"synth", fabric, "-c", "allgather", "--format", "forest", "-o", scratch / "out.json"},
      "out of memory; no file is left half-written [R03]\n  use ",
      with_address_space(100 * kMegabyte));
  EXPECT_THAT(synth.err, HasSubstr("use a smaller -k, fewer --ranks, a smaller fabric, or "));
  EXPECT_THAT(scratch.names(), ::testing::ElementsAre("star.json"));
  const auto read = expect_says(3, {"topo", "check", "/dev/zero"}, "out of memory",
                                with_address_space(200 * kMegabyte));
  EXPECT_THAT(read.err, HasSubstr("use fewer --ranks, a smaller fabric, or "));
  expect_says(3, {"verify", "/dev/zero"}, "a smaller fabric, or a machine",
              with_address_space(200 * kMegabyte));
}
#endif

TEST(SolverOptionsLong, ThreadsAndTheTimeOfDayDoNotShow) {
  const auto one = run({"synth", topology("mi250-x2"), "--format", "forest", "-k", "2", "-j", "1"});
  const auto many =
      run({"synth", topology("mi250-x2"), "--format", "forest", "-k", "2", "--threads", "8"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out, many.out);
}

TEST(SolverOptionsLong, EveryEffortIsAForest) {
  for (const std::string effort : {"fast", "default", "max"}) {
    expect_says(0, {"synth", topology("torus-4x4"), "--format", "none", "--effort", effort},
                "100 % of the optimum");
  }
}

TEST(SolverOptionsLong, MaxHeightIsKeptOrImpossible) {
  const auto json = json_of({"synth", topology("dgx-a100-x2"), "-c", "allgather", "--format",
                             "none", "--json", "--max-height", "2"},
                            "forestcoll-synth.schema.json");
  EXPECT_LE(json["height"]["max"], 2);
  const auto impossible =
      run({"synth", topology("hypercube-16"), "-c", "allgather", "--max-height", "3"});
  EXPECT_NE(impossible.code, 0);
  EXPECT_THAT(impossible.err, HasSubstr("[E16]"));
}

TEST(SolverOptionsLong, TradeoffHasARowPerKAndPerHeight) {
  const auto synth = run_well({"synth", topology("dgx-a100-x2"), "-c", "allgather", "--format",
                               "none", "--tradeoff", "--json"});
  const auto json = nlohmann::json::parse(synth.out);
  expect_valid(json, "forestcoll-synth.schema.json");
  const auto& by_k = json["tradeoff_by"]["by_k"];
  ASSERT_EQ(by_k.size(), 6U);  // 1, 2, 4, 8, 16 and the optimal 13
  EXPECT_EQ(by_k[0]["algbw"]["exact"], "2400/7");
  EXPECT_EQ(by_k[5]["k"], 13);
  EXPECT_EQ(by_k[5]["algbw"], json["optimum"]);
  EXPECT_FALSE(json["tradeoff_by"]["by_height"].empty());
  EXPECT_THAT(synth.err, HasSubstr("rate by height:"));
}

// The highest trees of what a runtime loads are those that it gets by default: a power of two.
TEST(SolverOptionsLong, TradeoffOfAScheduleBeginsWithItsDefault) {
  const Scratch scratch;
  const std::string dgx = topology("dgx-a100-x2");
  const auto first_k = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"synth", dgx, "-c", "allgather", "-o", scratch / "out"};
    for (const char* word : {"--tradeoff", "--json"}) more.emplace_back(word);
    words.insert(words.end(), more.begin(), more.end());
    const auto synth = json_of(words);
    return synth["tradeoff_by"]["by_height"][0]["k"].get<int>();
  };
  EXPECT_EQ(first_k({}), 8);
  EXPECT_EQ(first_k({"-k", "auto"}), 8);
  EXPECT_EQ(first_k({"--format", "forest"}), 13);
}

TEST(SolverOptionsLong, UsageErrors) {
  const std::string file = topology("dgx-a100-x1");
  const std::vector<Misuse> misuses = {
      {{file, "--effort", "heroic"}, "found \"heroic\" [S03]"},
      {{file, "-j", "0"}, "--jobs: expected a number from 1 to 1024, found \"0\" [S03]"},
      {{file, "-j", "many"}, "found \"many\" [S03]"},
      {{file, "--time-limit", "0"}, "--time-limit: expected a positive number of seconds"},
      {{file, "--time-limit", "-1"}, "found \"-1\" [S03]"},
      {{file, "--time-limit", "nan"}, "found \"nan\" [S03]"},
      {{file, "--time-limit", "1s"}, "found \"1s\" [S03]"},
      {{file, "--max-height", "0"}, "--max-height: expected a positive number of hops"},
      {{file, "--max-height", "2", "--warm", file}, "[S04]"},
      {{file, "--derate", "kind=nvlink"}, "[D02]"},
      {{file, "--max-nodes", "-5"}, "expected a positive integer, found \"-5\""},
      {{file, "--max-nodes", "0"}, "expected a positive integer, found \"0\""},
      {{file, "--max-nodes", "ten"}, "expected a positive integer, found \"ten\""},
  };
  for (const Misuse& misuse : misuses) {
    const auto synth = expect_says(2, joined({"synth"}, misuse.arguments), misuse.says);
    EXPECT_TRUE(synth.out.empty());
  }
}

TEST(Program, KnowsItsCommands) {
  const auto unknown = run({"synthesise", "x"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, StartsWith("there is no command \"synthesise\"; there are synth"));
  const auto none = run({});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, StartsWith("a command is missing: one of synth"));
  const auto topo = run({"topo"});
  EXPECT_EQ(topo.code, 2);
  EXPECT_THAT(topo.err, StartsWith("a command is missing: one of check, gen, show"));
  EXPECT_THAT(topo.err, HasSubstr("`forestcoll topo --help`"));
  const auto drawing = run({"topo", "draw", "x"});
  EXPECT_EQ(drawing.code, 2);
  EXPECT_THAT(drawing.err, StartsWith("there is no command \"draw\"; there are check"));
  EXPECT_THAT(run({"batch"}).err, HasSubstr("a directory of topologies is missing"));
  expect_says(2, {"--frobnicate"}, "there is no option --frobnicate");
  EXPECT_THAT(run({"--help"}).out, HasSubstr("130, 143"));
  EXPECT_THAT(run({"topo", "--help"}).out, Not(HasSubstr("forestcoll synth")));
}

}  // namespace
}  // namespace forestcoll::testing
