// Clusters that people write by hand: the boxes that follow from them, and what is said of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::SizeIs;

using Json = nlohmann::json;

// The topology files that the README shows.
std::vector<std::string> readme_files() {
  const std::string readme = read_file(source_path("README.md"));
  const std::string fence = "```json\n";
  std::vector<std::string> files;
  for (std::size_t at = readme.find(fence); at != std::string::npos; at = readme.find(fence, at)) {
    at += fence.size();
    files.push_back(readme.substr(at, readme.find("```", at) - at));
  }
  return files;
}

// A file with other bandwidths and labels is as good an example.
std::string without_kinds(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(, "kind": "[a-z]+")"), "");
}

std::string synth(const std::string& file, const std::string& collective, const std::string& format,
                  const std::vector<std::string>& more = {}) {
  return run_well(joined({"synth", file, "-c", collective, "--format", format}, more)).out;
}

// What compare says, without the seconds that it took, the file's own name and its order of nodes,
// labels of links, and why an A100's figures are taken: where no kind says NVLink, for want of
// another's.
Json comparison(const std::string& file) {
  auto report = json_of({"compare", file, "--trees", "-c", "allreduce", "--json"});
  report.erase("topology");
  report["parameters"].erase("chosen");
  Json& typical = report["latencies"]["typical"];
  for (Json& links : typical) links.erase("kind");
  std::sort(typical.begin(), typical.end());
  for (auto& row : report["rows"]) row.erase("seconds");
  Json& nodes = report["bottleneck"]["nodes"];
  std::sort(nodes.begin(), nodes.end());
  return report;
}

// The kinds of channels of a plan, by whether they stay within a box of four ranks.
std::map<std::string, std::set<std::string>> channels(const std::string& plan) {
  std::map<std::string, std::set<std::string>> kinds;
  const Json document = Json::parse(plan);
  for (const auto& gpu : document["gpus"]) {
    for (const auto& channel : gpu["channels"]) {
      for (const int peer : channel["connected_to"]) {
        const bool same = gpu["id"].get<int>() / 4 == peer / 4;
        kinds[same ? "within" : "between"].insert(channel["channel_type"].get<std::string>());
      }
    }
  }
  return kinds;
}

class HandWrittenLong : public ::testing::Test {
 protected:
  // Three boxes by the README: with a template, without one, and without labels either.
  void SetUp() override {
    const auto files = readme_files();
    ASSERT_THAT(files, SizeIs(3));
    with_ = scratch_.write("with.json", files[1]);
    without_ = scratch_.write("without.json", files[2]);
    bare_ = scratch_.write("bare.json", without_kinds(files[2]));
    ASSERT_THAT(files[1], HasSubstr("\"templates\""));
    ASSERT_THAT(files[2], AllOf(Not(HasSubstr("\"templates\"")), Not(HasSubstr("\"box\""))));
  }
  Scratch scratch_;
  std::string with_, without_, bare_;
};

TEST_F(HandWrittenLong, TheSamePlanWithPortChannelsBetweenBoxes) {
  for (const std::string collective : {"allreduce", "allgather", "reduce_scatter"}) {
    // By size the fastest of many, of one collective: that takes longer.
    std::vector<std::string> trees;
    if (collective != "allgather") trees = {"-k", "auto"};
    const std::string plan = synth(with_, collective, "mscclpp", trees);
    EXPECT_EQ(synth(without_, collective, "mscclpp", trees), plan) << collective;
    EXPECT_EQ(synth(bare_, collective, "mscclpp", trees), plan) << collective;
    const auto kinds = channels(plan);
    EXPECT_THAT(kinds.at("within"), ElementsAre("memory")) << collective;
    EXPECT_THAT(kinds.at("between"), ElementsAre("port")) << collective;
  }
}

TEST_F(HandWrittenLong, TheSameScheduleAndComparison) {
  const std::regex hash("topology hash [0-9a-f]*");
  const auto xml = [&](const std::string& file) {
    return std::regex_replace(synth(file, "allreduce", "msccl"), hash, "");
  };
  EXPECT_EQ(xml(without_), xml(with_));
  const Json expected = comparison(with_);
  EXPECT_EQ(comparison(without_), expected);
  EXPECT_EQ(comparison(bare_), expected);
}

TEST_F(HandWrittenLong, WhatWasInferredIsSaid) {
  const std::string said =
      "without.json: boxes inferred: 3 (box0, box1, box2), from links of kind \"nvlink\" and the "
      "ids; \"box\" on a node overrides\n";
  const std::string plan = scratch_ / "plan.json", xml = scratch_ / "plan.xml";
  const std::vector<std::vector<std::string>> commands = {
      {"topo", "check", without_},
      {"topo", "show", without_},
      {"topo", "convert", without_, "--to", "csv"},
      {"bound", without_},
      {"synth", without_, "--format", "mscclpp", "-o", plan},
      {"synth", "-k", "auto", without_, "-o", xml},
      {"verify", plan, "--topology", without_},
      {"simulate", xml, without_, "--sizes", "1M"},
      {"compare", without_, "--trees"},
  };
  for (const auto& command : commands) {
    const auto result = run(command);
    EXPECT_EQ(result.code, 0) << command[0] << result.err;
    EXPECT_THAT(result.err, HasSubstr(said)) << command[0] << command[1];
    EXPECT_THAT(result.err, Not(HasSubstr("W09"))) << command[0];
  }
  EXPECT_EQ(run({"bound", without_, "--quiet"}).err, "");
  EXPECT_THAT(run({"bound", with_}).err, Not(HasSubstr("inferred")));
  const auto report = Json::parse(run({"topo", "check", "--json", without_, with_}).out);
  expect_valid(report, "forestcoll-topo-check.schema.json");
  EXPECT_THAT(report["files"][0]["notes"], SizeIs(1));
  EXPECT_THAT(report["files"][1]["notes"], IsEmpty());
}

TEST_F(HandWrittenLong, BoxesAreKnownEverywhere) {
  EXPECT_THAT(run({"topo", "show", without_}).out, HasSubstr("box[0-2]"));
  EXPECT_THAT(run({"bound", without_}).out, HasSubstr("GPUs of box1 and box2"));
  EXPECT_THAT(run({"bound", without_, "--whatif"}).out, HasSubstr("box0, or another of 3"));
  EXPECT_THAT(run({"bound", without_, "--drop", "box2"}).err, HasSubstr("dropped box2"));
  // Written out, they are declared.
  const auto flat = run({"topo", "convert", without_, "--to", "topology"});
  EXPECT_THAT(flat.out, HasSubstr("\"box\": \"box2\""));
  const auto again = run({"topo", "check", "-"}, {.input = flat.out});
  EXPECT_THAT(again.err, Not(HasSubstr("inferred")));
}

TEST_F(HandWrittenLong, ADeclaredBoxOverrides) {
  std::string one = read_file(without_);
  const std::string gpus = R"("type": "compute")";
  one.insert(one.find(gpus) + gpus.size(), R"(, "box": "all")");
  const std::string file = scratch_.write("one.json", one);
  const auto plan = run({"synth", file, "-k", "auto", "--format", "mscclpp"});
  EXPECT_THAT(plan.err, Not(HasSubstr("inferred")));
  EXPECT_THAT(channels(plan.out).at("between"), ElementsAre("memory"));
}

// The natural range that is a mistake.
TEST_F(HandWrittenLong, RangesThatMultiplyAreNamed) {
  const std::string wrong = R"({ "format": "forestcoll-topology", "version": 1,
 "nodes": [ { "id": "box[0-2]/gpu[0-3]", "type": "compute" },
            { "id": "box[0-2]/nvsw", "type": "switch" }, { "id": "ib", "type": "switch" } ],
 "links": [ { "src": "box[0-2]/gpu[0-3]", "dst": "box[0-2]/nvsw", "bandwidth": 300, "kind": "nvlink" },
            { "src": "box[0-2]/gpu[0-3]", "dst": "ib", "bandwidth": "200 GB/s", "kind": "ib" } ] })";
  const auto check = run_well({"topo", "check", "-"}, {.input = wrong});
  EXPECT_THAT(check.err,
              AllOf(HasSubstr("/links/0: warning: each of \"box[0-2]/gpu[0-3]\" is linked to each "
                              "of \"box[0-2]/nvsw\": 36 links [W12]"),
                    HasSubstr("\"templates\""), Not(HasSubstr("\"zip\"")), HasSubstr("[W09]")));
  EXPECT_THAT(check.err, HasSubstr("/links/1/bandwidth: warning: 200 GB/s is more than a link of "
                                   "kind \"ib\" carries, 100 GB/s at most [W04]"));
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"topo", "check"}, {"bound"}, {"topo", "show"}}) {
    auto arguments = command;
    arguments.insert(arguments.end(), {"-", "--strict"});
    const auto strict = run(arguments, {.input = wrong});
    EXPECT_EQ(strict.code, 2) << command.front();
    EXPECT_THAT(strict.err, AllOf(HasSubstr("[W04]"), HasSubstr("[W09]"), HasSubstr("[W12]"),
                                  Not(HasSubstr("warning:"))));
  }
}

// --- how much is said

std::size_t lines_with(const std::string& text, const std::string& word) {
  std::size_t lines = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++lines;
  }
  return lines;
}

TEST(Findings, NoneOfWhatIsDeclaredOrGenerated) {
  EXPECT_EQ(run({"topo", "check", topology("dgx-a100-x2-degraded")}).err, "");
  for (const std::string name : {"de-bruijn", "kautz"}) {
    const auto gen = run_well({"topo", "gen", name, "--degree", "2", "--diameter", "6"});
    EXPECT_EQ(run({"topo", "check", "-"}, {.input = gen.out}).err, "") << name;
  }
}

// 130 switches that carry nothing: three lines and a count.
TEST(Findings, ManyOfOneKindAreCounted) {
  std::string nodes = R"({"id":"gpu[0-1]","type":"compute"})";
  for (int i = 0; i < 130; ++i) {
    nodes += R"(,{"id":"spare)" + std::to_string(i) + R"(","type":"switch"})";
  }
  const std::string text = R"({"format":"forestcoll-topology","version":1,"nodes":[)" + nodes +
                           R"(],"links":[{"src":"gpu0","dst":"gpu1","bandwidth":25}]})";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"topo", "check", "-"}, {"bound", "-"}}) {
    const auto result = run_well(command, {.input = text});
    EXPECT_EQ(lines_with(result.err, "[W02]"), 4U) << result.err;
    EXPECT_THAT(result.err, HasSubstr("warning: and 127 more of this kind, at /nodes/4, /nodes/5, "
                                      "/nodes/6, … [W02]\n  --verbose lists them."));
  }
  const auto verbose = run({"--verbose", "topo", "check", "-"}, {.input = text});
  EXPECT_EQ(lines_with(verbose.err, "[W02]"), 101U);
  const auto report =
      Json::parse(run({"topo", "check", "--json", "-"}, {.input = text}).out)["files"][0];
  EXPECT_EQ(report["findings"].size(), 101U);
  EXPECT_EQ(report["findings"][100]["message"], "and 30 more of this kind");
}

TEST(Findings, ThreeAreStillWhole) {
  const std::string text = R"({"format":"forestcoll-topology","version":1,
"nodes":[{"id":"gpu[0-1]","type":"compute","colour":1,"size":2,"shape":3}],
"links":[{"src":"gpu0","dst":"gpu1","bandwidth":25}]})";
  const auto check = run({"topo", "check", "-"}, {.input = text});
  EXPECT_EQ(lines_with(check.err, "[W06]"), 3U);
  EXPECT_THAT(check.err, Not(HasSubstr("more of this kind")));
}

}  // namespace
}  // namespace forestcoll::testing
