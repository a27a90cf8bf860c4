// With --json, errors are JSON too, in the place of a report that there is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

struct Failing {
  std::vector<std::string> words;
  int exit_code;
  std::string code;
};

TEST(ErrorReport, StandsInThePlaceOfEveryReport) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x1");
  const std::string none = scratch / "none.json", empty = scratch.write("empty.json", "");
  const std::vector<Failing> all = {
      {{"bound", empty}, 2, "E01"},
      {{"bound", none}, 4, "IO"},
      {{"bound", fabric, "--top", "0"}, 2, "S03"},
      {{"bound", fabric, "--tops"}, 2, "S05"},
      {{"bond", fabric}, 2, "S05"},
      {{"synth", fabric, "-o", "-"}, 2, "S04"},
      {{"synth", fabric, "--threadblocks", "1", "-k", "4", "-o", scratch / "a.xml"}, 3, "T01"},
      {{"synth", topology("dgx-1-v100"), "--algorithm", "ring", "-o", scratch / "a"}, 3, "B10"},
      {{"verify", none}, 4, "IO"},
      {{"simulate", none, fabric}, 4, "IO"},
      {{"compare", empty}, 2, "E01"},
      {{"batch", none, "-o", scratch / "out"}, 4, "IO"},
      {{"topo", "show", empty}, 2, "E01"},
      {{"topo", "gen", "dgx-a100"}, 2, "S04"},
      {{"design", "direct", "--nodes", "x", "--ports", "4"}, 2, "S03"},
  };
  for (const Failing& each : all) {
    const auto result = run(joined(each.words, {"--json"}));
    EXPECT_EQ(result.code, each.exit_code) << result.err;
    ASSERT_TRUE(nlohmann::json::accept(result.out)) << result.out << result.err;
    const auto report = nlohmann::json::parse(result.out);
    expect_valid(report, "forestcoll-error.schema.json");
    EXPECT_EQ(report["exit_code"], each.exit_code);
    ASSERT_FALSE(report["errors"].empty()) << result.err;
    const auto& error = report["errors"][0];
    EXPECT_EQ(error["code"], each.code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(error["message"].get<std::string>()));
    EXPECT_NE(error["remedy"], "") << result.err;
  }
}

// A report that says no is a report, and nothing stands behind it.
TEST(ErrorReport, LeavesReportsAlone) {
  const Scratch scratch;
  const std::string empty = scratch.write("empty.json", "");
  const auto check = run({"topo", "check", empty, "--json"});
  EXPECT_EQ(check.code, 2);
  EXPECT_EQ(nlohmann::json::parse(check.out)["format"], "forestcoll-topo-check");
  const auto verify = run({"verify", scratch.write("a.xml", "<algo/>"), "--json"});
  EXPECT_EQ(verify.code, 1);
  EXPECT_EQ(nlohmann::json::parse(verify.out)["format"], "forestcoll-verify");
  const auto batch = run({"batch", scratch.write("t.json", "{}"), "--json"});
  EXPECT_EQ(nlohmann::json::parse(batch.out)["format"], "forestcoll-error");
}

TEST(ErrorReport, HasEveryErrorAndNoWarning) {
  const auto report = nlohmann::json::parse(
      run({"bound", "-", "--json"},
          {.input = R"({"format": "forestcoll-topology", "version": 1, "colour": "red",
  "nodes": [{"id": "a", "type": "compute"}, {"id": "a", "type": "compute"}, {"id": "b"}],
  "links": [{"src": "a", "dst": "z", "bandwidth": 25}]})"})
          .out);
  EXPECT_GE(report["errors"].size(), 2U) << report;
  for (const auto& error : report["errors"]) EXPECT_EQ(error["severity"], "error");
}

}  // namespace
}  // namespace forestcoll::testing
