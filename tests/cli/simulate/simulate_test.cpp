// `forestcoll simulate` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;

std::string schedule(const std::vector<std::string>& more) {
  const Result synth = run(joined({"synth", "-k", "auto", topology("dgx-a100-x1")}, more));
  EXPECT_EQ(synth.code, 0) << synth.err;
  return synth.out;
}

Result simulate(const std::string& text, const std::vector<std::string>& more) {
  return run(joined({"simulate", "-", topology("dgx-a100-x1")}, more), {.input = text});
}

TEST(Simulate, TellsTimesAndThatItIsAModel) {
  const Result result =
      simulate(schedule({"-c", "allgather"}), {"--sizes", "1K:64M:64", "--gpu", "h100"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("<stdin>: allgather over 8 ranks, Simple"));
  EXPECT_THAT(result.out,
              HasSubstr("simulated (model, not measurement); GPU parameters: h100 (as asked for)"));
  EXPECT_TRUE(std::regex_search(result.out, std::regex("\n +1K +[0-9.]+ us")));
  EXPECT_TRUE(std::regex_search(result.out, std::regex("\n +64K +[0-9.]+ us")));
  EXPECT_TRUE(std::regex_search(result.out, std::regex("\n +4M +[0-9.]+ us")));
  EXPECT_THAT(result.out, Not(HasSubstr(" 64M ")));
  EXPECT_THAT(result.out, HasSubstr("busiest links: "));
}

TEST(Simulate, ReportsFollowTheSchema) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> formats = {
      {{}, "msccl-xml"},
      {{"--format", "mscclpp"}, "mscclpp-plan"},
      {{"--format", "forest"}, "forestcoll-forest"}};
  for (const auto& [format, name] : formats) {
    const Result result = simulate(schedule(format), {"--sizes", "1K,1G", "--json"});
    ASSERT_EQ(result.code, 0) << name << result.err;
    const Json report = Json::parse(result.out);
    expect_valid(report, "forestcoll-simulation.schema.json");
    EXPECT_EQ(report["schedule"], name);
    EXPECT_EQ(report["collective"], "allreduce");
    EXPECT_EQ(report["parameters"]["name"], "a100");
    ASSERT_EQ(report["times"].size(), 2U);
    EXPECT_EQ(report["times"][1]["bytes"], 1 << 30);
    const double algbw = report["times"][1]["simulated_algbw"];
    const double busbw = report["times"][1]["simulated_busbw"];
    EXPECT_NEAR(busbw / algbw, 2 * 7.0 / 8, 1e-9);
    EXPECT_LE(algbw, 172);  // 2 × 300 / (2 × 7/8) at most
    for (const auto& link : report["links"]) EXPECT_LE(link["busy"], 1.001);
  }
}

TEST(Simulate, TakesFiguresFromAFile) {
  const Scratch scratch;
  const Json parameters = {{"format", "forestcoll-simulation-parameters"},
                           {"version", 1},
                           {"name", "slow"},
                           {"source", "nowhere"},
                           {"protocols", {{"Simple", {{"message_us", 1000}}}}}};
  expect_valid(parameters, "forestcoll-simulation-parameters.schema.json");
  const std::string path = scratch.write("slow.json", parameters.dump());
  const Result result = simulate(schedule({"-c", "allgather", "--format", "forest"}),
                                 {"--sizes", "8", "--parameters", path, "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["parameters"]["source"], "nowhere");
  // One hop through the switch: a message and two links of 0.7 µs.
  EXPECT_NEAR(report["times"][0]["simulated_seconds"], 1.0014e-3, 1e-6);
}

TEST(Simulate, ExtrapolatesUnlessToldNotTo) {
  const std::string text = schedule({"-c", "allgather", "--format", "forest"});
  const Json quick = Json::parse(simulate(text, {"--sizes", "4G", "--json"}).out);
  const Json whole = Json::parse(simulate(text, {"--sizes", "4G", "--json", "--every-pass"}).out);
  EXPECT_LT(quick["events"], whole["events"]);
  const double a = quick["times"][0]["simulated_seconds"],
               b = whole["times"][0]["simulated_seconds"];
  EXPECT_NEAR(a, b, 0.01 * b);
}

TEST(Simulate, RefusesInWords) {
  const std::string text = schedule({"-c", "allgather"});
  const auto expect = [&](const Result& result, int code, const std::string& words) {
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(words));
  };
  expect(simulate(text, {"--sizes", "4G:1K"}), 2, "begins with 4G, above its end 1K [M01]");
  expect(simulate(text, {"--sizes", "0"}), 2, "[M01]");
  expect(simulate(text, {"--gpu", "a1000"}), 2, "[M03]");
  expect(simulate(text, {"--gpu", "a100", "--parameters", "x"}), 2, "--parameters");
  expect(simulate(text, {"--parameters", "/nonexistent.json"}), 4, "/nonexistent.json");
  expect(run({"simulate", "-", topology("dgx-a100-x2")}, {.input = text}), 2,
         "the schedule is for 8 GPUs, the topology has 16 [M04]");
  expect(run({"simulate", "-", "-"}, {.input = text}), 2, "[S04]");
  expect(simulate("<algo", {}), 2, "[V01]");
  std::string broken = text;
  broken.replace(broken.find("cnt=\""), 6, "cnt=\"9");
  expect(simulate(broken, {}), 2, "`forestcoll verify <stdin>`");
}

TEST(Simulate, HelpShowsExamples) {
  const Result help = run({"simulate", "--help-all"});
  EXPECT_EQ(help.code, 0);
  for (const char* words : {"--sizes", "--gpu", "--parameters", "--every-pass",
                            "Examples:", "model, not a measurement", "a100, h100"}) {
    EXPECT_THAT(help.out, HasSubstr(words));
  }
}

}  // namespace
}  // namespace forestcoll::testing
