// What is left where time is up, a signal comes or memory ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

// A search that takes many seconds: thousands of k on half a thousand GPUs.
std::vector<std::string> long_search(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {
      "synth", topology("torus-8x8x8"), "-c", "allgather", "-k", "max:10000", "--format", "forest"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
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

constexpr rlim_t kMegabyte = rlim_t{1} << 20;

TEST(OutOfMemoryLong, IsSaidAndLeavesNoFile) {
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

}  // namespace
}  // namespace forestcoll::testing
