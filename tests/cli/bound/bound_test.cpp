// `forestcoll bound`, `topo check`, `verify` and the global options from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

nlohmann::json bound_json(const std::vector<std::string>& more) {
  return json_of(joined({"bound", "--json"}, more));
}

TEST(Bound, KnownOptima) {
  struct Known {
    std::string name, allgather, allreduce;
    int k;
  };
  const std::vector<Known> known = {{"dgx-a100-x1", "2400/7", "1200/7", 1},
                                    {"dgx-a100-x2", "1040/3", "520/3", 13},
                                    {"dgx-a100-x4", "800/3", "400/3", 1},
                                    {"mi250-x1", "2400/7", "1200/7", 3},
                                    {"mi250-x2", "5312/15", "2656/15", 83}};
  for (const Known& fabric : known) {
    const auto json = bound_json({topology(fabric.name), "--check"});
    expect_valid(json, "forestcoll-bound.schema.json");
    EXPECT_EQ(json["algbw"]["allgather"]["exact"], fabric.allgather);
    EXPECT_EQ(json["algbw"]["reduce_scatter"]["exact"], fabric.allgather);
    EXPECT_EQ(json["algbw"]["allreduce"]["exact"], fabric.allreduce);
    EXPECT_EQ(json["k"], fabric.k);
    EXPECT_EQ(json["checked"], true);
  }
}

// However long the fractions: every line has its three columns, right-aligned under their heads.
TEST(Bound, LongFractionsHaveColumns) {
  const std::string fabric =
      R"({"format": "forestcoll-topology", "version": 1, "name": "primes",
 "nodes": [{"id": "gpu[0-6]", "type": "compute"}, {"id": "sw", "type": "switch"}],
 "links": [{"src": "gpu[0-5]", "dst": "sw", "bandwidth": "1234567/99991"},
           {"src": "gpu6", "dst": "sw", "bandwidth": "99991/991"}]})";
  const auto bound = run_well({"bound", "-"}, {.input = fabric});
  std::istringstream lines(bound.out);
  std::string line;
  std::getline(lines, line);
  std::set<std::size_t> widths;
  for (int i = 0; i < 4; ++i) {
    std::getline(lines, line);
    EXPECT_THAT(line,
                ::testing::ContainsRegex(
                    "^[a-z_]+  +[^ ]+( GB/s| \\([0-9/]+\\))?  +[^ ]+( GB/s| \\([0-9/]+\\))?$"));
    widths.insert(line.size());
  }
  EXPECT_EQ(widths.size(), 1U) << bound.out;
}

TEST(Bound, TheBottleneckAddsUp) {
  for (const std::string name : {"dgx-a100-x2", "dgx-a100-x4", "mi250-x2", "torus-4x4"}) {
    const auto json = bound_json({topology(name)});
    const auto& bottleneck = json["bottleneck"];
    double sum = 0;
    const std::set<std::string> nodes(bottleneck["nodes"].begin(), bottleneck["nodes"].end());
    for (const auto& link : bottleneck["links"]) {
      sum += link["bandwidth"]["value"].get<double>();
      EXPECT_TRUE(nodes.contains(link["src"]) && !nodes.contains(link["dst"])) << link;
    }
    EXPECT_DOUBLE_EQ(sum, bottleneck["exit_bandwidth"]["value"].get<double>());
    EXPECT_DOUBLE_EQ(sum / bottleneck["compute_nodes"].get<double>(),
                     json["rate_per_root"]["value"].get<double>());
    EXPECT_EQ(bottleneck["weight"], bottleneck["compute_nodes"]);
  }
}

TEST(Bound, BottleneckInWords) {
  EXPECT_THAT(
      run({"bound", topology("dgx-a100-x4")}).out,
      HasSubstr("data of the 24 GPUs of box1, box2 and box3 leaves through 8 links of 25 GB/s "
                "(200 GB/s)"));
  EXPECT_THAT(run({"bound", topology("dgx-a100-x2"), "-c", "broadcast", "--root", "3"}).out,
              HasSubstr("data of the 8 GPUs of box0 leaves through 8 links of 25 GB/s (200 GB/s)"));
}

// gpu1 receives over one link and sends over two: what it gathers is what limits a reduce_scatter.
constexpr const char* kOneWay = R"({"format": "forestcoll-topology", "version": 1,
 "nodes": [{"id": "gpu[0-1]", "type": "compute"}, {"id": "sw", "type": "switch"}],
 "links": [{"src": "gpu[0-1]", "dst": "sw", "bandwidth": 10},
           {"src": "gpu1", "dst": "sw", "bandwidth": 30, "duplex": "simplex"},
           {"src": "sw", "dst": "gpu0", "bandwidth": 5, "duplex": "simplex"}]})";

TEST(Bound, DirectionsMayDiffer) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", kOneWay);
  const auto json = bound_json({file, "--check", "-c", "broadcast", "--root", "gpu1"});
  EXPECT_EQ(json["algbw"]["broadcast"]["exact"], "15");
  EXPECT_EQ(json["bottleneck"]["links"][0]["dst"], "gpu0");
  const auto reduce = bound_json({file, "--check", "-c", "reduce", "--root", "gpu1"});
  expect_valid(reduce, "forestcoll-bound.schema.json");
  EXPECT_EQ(reduce["algbw"]["reduce"]["exact"], "10");
  EXPECT_EQ(reduce["algbw"].size(), 1U);
  EXPECT_EQ(reduce["collective"], "reduce");
}

TEST(Bound, AllreduceBesideTheBestByTrees) {
  struct Known {
    std::string name, exact;
    double gap;
  };
  for (const Known& fabric : std::vector<Known>{{"dgx-a100-x2", "520/3", 0},
                                                {"dgx-a100-x2-degraded", "2075/12", 6.25},
                                                {"mixed-a100-h100", "175", 125.0 / 3}}) {
    const auto json = bound_json({topology(fabric.name)});
    expect_valid(json, "forestcoll-bound.schema.json");
    const auto& optimum = json["allreduce_optimum"];
    EXPECT_EQ(optimum["exact"], fabric.exact);
    EXPECT_EQ(optimum["at_most"]["exact"], fabric.exact);
    EXPECT_NEAR(optimum["gap"].get<double>(), fabric.gap, 1e-9);
  }
  EXPECT_THAT(
      run({"bound", topology("mixed-a100-h100")}).out,
      HasSubstr("optimum of allreduce by trees: 175 GB/s, 31.25 % more than reduce_scatter, then "
                "allgather"));
  EXPECT_THAT(run({"bound", topology("dgx-a100-x2"), "-c", "allreduce"}).out,
              HasSubstr("173.333 (520/3) GB/s, equal to reduce_scatter, then allgather\n"));
  EXPECT_FALSE(
      bound_json({topology("dgx-a100-x2"), "-c", "allgather"}).contains("allreduce_optimum"));
}

// 800 links that no symmetry exchanges; the narrowest of them carries all data both ways.
TEST(BoundLong, TheBestAllreduceIsComputedWithoutSymmetry) {
  nlohmann::json fabric = {{"format", "forestcoll-topology"}, {"version", 1}};
  fabric["nodes"] = {{{"id", "gpu[0-799]"}, {"type", "compute"}},
                     {{"id", "sw"}, {"type", "switch"}}};
  for (int i = 0; i < 800; ++i) {
    fabric["links"].push_back(
        {{"src", "gpu" + std::to_string(i)}, {"dst", "sw"}, {"bandwidth", 100 + i}});
  }
  const Scratch scratch;
  const std::string file = scratch.write("t.json", fabric.dump());
  const auto json = bound_json({file});
  expect_valid(json, "forestcoll-bound.schema.json");
  EXPECT_EQ(json["allreduce_optimum"]["exact"], "100");
}

// What `in-network.md` knows of one box of H100, by the generator's own file.
TEST(Bound, SaysWhatSwitchesThatCopyAndCombineBring) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto json = bound_json({file});
  expect_valid(json, "forestcoll-bound.schema.json");
  EXPECT_EQ(json["allreduce_optimum"]["exact"], "1800/7");
  EXPECT_EQ(json["allreduce_in_network"]["exact"], "400");
  EXPECT_EQ(json["allreduce_in_network"]["at_least"]["exact"], "400");
  const auto text = run({"bound", file, "-c", "allreduce"}).out;
  EXPECT_THAT(text,
              HasSubstr("with in-network multicast and reduction: 400 GB/s, 55.56 % more than "
                        "without it\n"));
  EXPECT_FALSE(bound_json({file, "-c", "allgather"}).contains("allreduce_in_network"));
  EXPECT_FALSE(bound_json({topology("dgx-a100-x1")}).contains("allreduce_in_network"));
}

// Where trees do not reach what data mixed in switches could, both figures stand there: trees reach
// 7.25 at most, by enumeration.
TEST(Bound, NamesTheGapOfSwitchesThatCopyAndCombine) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", R"(
    {"format": "forestcoll-topology", "version": 1,
     "nodes": [{"id": "g[0-2]", "type": "compute"}, {"id": "s3", "type": "switch"},
               {"id": "s4", "type": "switch", "multicast": true, "reduce": true, "echo": false}],
     "links": [{"src": "g0", "dst": "g1", "bandwidth": 4, "duplex": "simplex"},
               {"src": "g0", "dst": "s3", "bandwidth": 2, "duplex": "simplex"},
               {"src": "g0", "dst": "s4", "bandwidth": 3, "duplex": "simplex"},
               {"src": "g1", "dst": "g2", "bandwidth": 7, "duplex": "simplex"},
               {"src": "g1", "dst": "s4", "bandwidth": 1, "duplex": "simplex"},
               {"src": "g2", "dst": "g0", "bandwidth": 3, "duplex": "simplex"},
               {"src": "g2", "dst": "s3", "bandwidth": 4, "duplex": "simplex"},
               {"src": "g2", "dst": "s4", "bandwidth": 1, "duplex": "simplex"},
               {"src": "s3", "dst": "g1", "bandwidth": 4, "duplex": "simplex"},
               {"src": "s3", "dst": "g2", "bandwidth": 1, "duplex": "simplex"},
               {"src": "s3", "dst": "s4", "bandwidth": 4, "duplex": "simplex"},
               {"src": "s4", "dst": "g0", "bandwidth": 6, "duplex": "simplex"},
               {"src": "s4", "dst": "g2", "bandwidth": 5, "duplex": "simplex"},
               {"src": "s4", "dst": "s3", "bandwidth": 3, "duplex": "simplex"}]})");
  const auto json = bound_json({file});
  expect_valid(json, "forestcoll-bound.schema.json");
  const auto& best = json["allreduce_in_network"];
  EXPECT_FALSE(best.contains("exact")) << best;
  EXPECT_EQ(best["at_least"]["exact"], "29/4");
  EXPECT_EQ(best["at_most"]["exact"], "15/2");
  const auto text = run({"bound", file}).out;
  EXPECT_THAT(text, HasSubstr("with in-network multicast and reduction: between "));
  EXPECT_THAT(text, HasSubstr(", which trees reach, and "));
}

// Bandwidths of twelve digits: solved for exactly, where the fractions are no simple ones.
TEST(Bound, TheBestAllreduceIsExactWhereFractionsAreLong) {
  nlohmann::json fabric = {{"format", "forestcoll-topology"}, {"version", 1}};
  fabric["nodes"] = {{{"id", "gpu[0-3]"}, {"type", "compute"}}, {{"id", "sw"}, {"type", "switch"}}};
  const std::vector<std::string> bandwidths = {"100.0000000001", "130.0000000003", "170.0000000007",
                                               "190.0000000009"};
  for (std::size_t i = 0; i < bandwidths.size(); ++i) {
    fabric["links"].push_back(
        {{"src", "gpu" + std::to_string(i)}, {"dst", "sw"}, {"bandwidth", bandwidths[i]}});
  }
  const Scratch scratch;
  const std::string file = scratch.write("t.json", fabric.dump());
  const auto json = bound_json({file});
  expect_valid(json, "forestcoll-bound.schema.json");
  const auto& optimum = json["allreduce_optimum"];
  EXPECT_EQ(optimum["exact"], "295000000001/3000000000");
}

// What everything passes is the limit, however far above it other links are.
TEST(Bound, TheBestAllreduceIsKnownWhereBandwidthsAreFarApart) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", R"(
    {"format": "forestcoll-topology", "version": 1,
     "nodes": [{"id": "g[0-2]", "type": "compute"}, {"id": "sw", "type": "switch"}],
     "links": [{"src": "g0", "dst": "sw", "bandwidth": 25},
               {"src": "g1", "dst": "sw", "bandwidth": 300000000},
               {"src": "g2", "dst": "sw", "bandwidth": "1/3"}]})");
  const auto json = bound_json({file});
  const auto& optimum = json["allreduce_optimum"];
  EXPECT_EQ(optimum["exact"], "1/3");
  EXPECT_EQ(optimum["at_most"]["exact"], "1/3");
  const auto compared =
      run({"compare", file, "--trees", "--sizes", "1M", "--algorithms", "forestcoll", "--json"});
  const auto report = nlohmann::json::parse(compared.out);
  EXPECT_EQ(report["allreduce_optimum"], optimum);
  EXPECT_EQ(report["optimum"]["exact"], "1/3");
}

TEST(Bound, RootAddsTheRootedCollectives) {
  const auto json = bound_json({topology("dgx-a100-x2"), "--root", "box1/gpu3"});
  EXPECT_EQ(json["algbw"].size(), 6U);
  EXPECT_EQ(json["algbw"]["broadcast"]["exact"], "200");
  EXPECT_EQ(json["k"], 13);
}

TEST(Bound, TopListsLinks) {
  const auto bound = run({"bound", topology("dgx-a100-x2"), "--top", "1"});
  EXPECT_THAT(bound.out, HasSubstr("box0/nvsw -> box0/gpu0: 300 GB/s"));
  EXPECT_THAT(bound.out, Not(HasSubstr("nic0")));
}

TEST(Bound, TopIsAtLeastOne) {
  for (const std::string number : {"0", "-1", "x"}) {
    expect_says(2, {"bound", topology("dgx-a100-x2"), "--top", number},
                "--top: expected a number from 1 to 1000000, found \"" + number + "\" [S03]\n");
  }
}

TEST(Bound, QuantizeIsReported) {
  expect_says(0, {"bound", topology("dgx-a100-x2"), "--quantize", "7"},
              "--quantize 7 changed a bandwidth by 12 % at most");
  EXPECT_TRUE(bound_json({topology("dgx-a100-x2"), "--quantize", "7"}).contains("quantize_change"));
}

TEST(Bound, SameBytesEveryTime) {
  EXPECT_EQ(run({"bound", "--json", topology("mi250-x2")}).out,
            run({"bound", "--json", topology("mi250-x2")}).out);
}

TEST(Verify, SaysWhatIsWrong) {
  const auto synth = run({"synth", "-k", "auto", "-"}, {.input = small_topology()});
  std::string text = synth.out;
  const auto dependent = text.find("hasdep=\"1\"");
  ASSERT_NE(dependent, std::string::npos) << text;
  text.replace(dependent, 10, "hasdep=\"0\"");
  const auto verify = run({"verify", "-"}, {.input = text});
  EXPECT_EQ(verify.code, 1);
  EXPECT_THAT(verify.out, HasSubstr("invalid"));
  EXPECT_THAT(verify.out, HasSubstr("threadblock"));
  const auto json = run({"verify", "-", "--json"}, {.input = text});
  EXPECT_EQ(json.code, 1);
  const auto report = nlohmann::json::parse(json.out);
  expect_valid(report, "forestcoll-verify.schema.json");
  EXPECT_FALSE(report["ok"]);
  EXPECT_THAT(report["findings"], Not(IsEmpty()));
}

TEST(Verify, JsonOfWhatIsRight) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", small_topology());
  for (const std::string format : {"msccl", "forest"}) {
    const auto synth = run({"synth", file, "--format", format});
    const auto verify =
        run_well({"verify", "-", "--json", "--topology", file}, {.input = synth.out});
    const auto report = nlohmann::json::parse(verify.out);
    expect_valid(report, "forestcoll-verify.schema.json");
    EXPECT_TRUE(report["ok"]);
    EXPECT_EQ(report["algbw"]["exact"], "25");
  }
}

TEST(Verify, RefusesWhatIsNoSchedule) {
  for (const std::string text : {"", "hello", "<algo", "{\"format\": \"x\"",
                                 "\x7f"
                                 "ELF"}) {
    const auto verify = run({"verify", "-"}, {.input = text});
    EXPECT_EQ(verify.code, 2) << text;
    EXPECT_THAT(verify.err, StartsWith("<stdin>: ")) << text;
    EXPECT_EQ(verify.out, "");
  }
  EXPECT_EQ(run({"verify", "-", "--target", "x"}).code, 2);
  EXPECT_EQ(run({"verify", "-", "--topology", "-"}).code, 2);
}

TEST(TopoCheck, BundledFilesAreRight) {
  const auto check = run_well({"topo", "check", topology("dgx-a100-x1"), topology("mi250-x2")});
  EXPECT_THAT(check.out, HasSubstr("dgx-a100-x1.json: ok: 8 GPUs"));
  EXPECT_THAT(check.out, HasSubstr("mi250-x2.json: ok: 32 GPUs"));
}

TEST(TopoCheck, SaysAllFindingsOfAllFiles) {
  const std::string malformed = source_path("tests/malformed/");
  const auto check =
      expect_says(2,
                  {"topo", "check", malformed + "several.json", topology("dgx-a100-x1"),
                   malformed + "e06-self-loop.json", malformed + "w02-dangling-switch.json"},
                  "several.json");
  EXPECT_THAT(check.err, HasSubstr("[E06]"));
  EXPECT_THAT(check.err, HasSubstr("[W02]"));
  EXPECT_THAT(check.out, HasSubstr("dgx-a100-x1.json: ok"));
  EXPECT_THAT(check.out, HasSubstr("w02-dangling-switch.json: ok"));
}

TEST(TopoCheck, JsonFollowsItsSchema) {
  const std::string malformed = source_path("tests/malformed/");
  const auto check =
      run({"topo", "check", "--json", "-q", malformed + "several.json", topology("dgx-a100-x1")});
  EXPECT_EQ(check.code, 2);
  const auto report = nlohmann::json::parse(check.out);
  expect_valid(report, "forestcoll-topo-check.schema.json");
  EXPECT_FALSE(report["files"][0]["ok"]);
  EXPECT_TRUE(report["files"][1]["ok"]);
}

TEST(TopoCheck, WarningsAreNoErrorsUnlessStrict) {
  const std::string file = source_path("tests/malformed/w06-unknown-key.json");
  EXPECT_EQ(run({"topo", "check", file}).code, 0);
  expect_says(2, {"topo", "check", "--strict", file}, "[W06]");
}

TEST(TopoCheck, ArithmeticThatDoesNotFitIsThree) {
  const std::string file = source_path("tests/malformed/e14-too-fine.json");
  expect_says(3, {"topo", "check", file}, "--quantize");
  EXPECT_EQ(run({"bound", file}).code, 3);
  EXPECT_EQ(run({"synth", "-k", "auto", file}).code, 3);
}

TEST(Program, VersionAndHelp) {
  const auto version = run_well({"--version"});
  EXPECT_THAT(version.out, StartsWith("forestcoll "));
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--help"},
                                             {"synth", "--help"},
                                             {"bound", "-h"},
                                             {"verify", "-h"},
                                             {"topo", "check", "-h"}}) {
    const auto help = run_well(arguments);
    EXPECT_EQ(help.err, "");
    EXPECT_THAT(help.out, HasSubstr("Examples:"));
    EXPECT_THAT(help.out, HasSubstr("Exit codes:"));
  }
}

TEST(Program, UsageErrors) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"synthesise"},
                                             {"topo"},
                                             {"topo", "check"},
                                             {"bound"},
                                             {"verify"},
                                             {"--quiet", "--verbose", "bound", "x"}}) {
    const auto result = expect_says(2, arguments, "--help`");
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace forestcoll::testing
