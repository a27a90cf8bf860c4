// Every word that the command line does not take has a code, its place, and where to look it up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

TEST(Usage, EveryErrorHasACode) {
  const std::string fabric = topology("dgx-a100-x1");
  const std::vector<Misuse> misuses = {
      {{}, "a command is missing: one of synth"},
      {{"--foo"}, "there is no option --foo before the command [S05]\n  see `forestcoll --help`\n"},
      {{"topo"}, "missing: one of check, gen, show, convert, import [S05]\n"},
      {{"verify"}, "SCHEDULE is required [S05]\n  see `forestcoll verify --help`\n"},
      {{"synth", fabric, fabric}, "\"" + fabric + "\" is one argument too many [S05]\n"},
      {{"bound", fabric, "--detail", "-1"}, "there is no option --detail [S05]\n"},
      {{"bound", fabric, "--detail=-1"}, "there is no option --detail [S05]\n"},
      {{"bound", fabric, "--tops", "1"}, "no option --tops; did you mean --top? [S05]\n"},
      {{"synth", fabric, "--out", "x"}, "no option --out; did you mean --output? [S05]\n"},
      {{"synthesise", fabric}, "no command \"synthesise\"; did you mean \"synth\"? [S05]\n"},
      {{"topology", "check"}, "no command \"topology\"; did you mean \"topo\"? [S05]\n"},
      {{"verison"}, "no command \"verison\"; did you mean \"--version\"? [S05]\n"},
      {{"run", "a.xml"}, "no command \"run\"; did you mean \"forestcoll-run\"? [S05]\n"},
      {{"help"}, "no command \"help\"; did you mean `forestcoll --help`? [S05]\n"},
      {{"help", "synth"}, "no command \"help\"; did you mean `forestcoll synth --help`? [S05]\n"},
      {{"design", "direct", "--node", "8", "--ports", "2"},
       "there is no option --node; did you mean --nodes? [S05]\n"},
      {{"simulate", "--topology", fabric, "a.xml"},
       "no option --topology: write `forestcoll simulate SCHEDULE TOPOLOGY` [S05]\n"},
      {{"synth", fabric, "--format", "none", "--json", "out.json"},
       "\"out.json\" is one argument too many; --json prints to standard output: write > out.json"},
      {{"topo", "gen", "torus", "4", "4"}, "torus has parameters; it takes --dims"},
      {{"bound", fabric, "-x"}, "there is no option -x [S05]\n"},
      {{"bound", fabric, "-c"}, "--collective needs a value [S05]\n"},
      {{"bound", fabric, "--json-version", "2"}, "--json-version requires --json [S05]\n"},
      {{"compare", fabric, "--json", "--csv"}, "--json excludes --csv [S04]\n"},
      {{"bound", fabric, "--json", "--json-version", "3"},
       "--json-version: expected one of 1, 2, found \"3\" [S03]\n"},
      {{"synth", fabric, "--format", "mscl"}, "found \"mscl\"; did you mean \"msccl\"? [S03]\n"},
      {{"synth", fabric, "--instances", "x"},
       "--instances: expected a number from 1 to 64, found \"x\" [S03]\n"},
      {{"topo", "show", fabric, "--detail", "-1"},
       "--detail: expected a number from 0 to 1000000, found \"-1\" [S03]\n"
       "  see `forestcoll topo show --help`\n"},
      {{"topo", "show", fabric, "--time-limit", "x"}, "seconds, found \"x\" [S03]\n"},
      {{"design", "direct", "--nodes", "x", "--ports", "4"},
       "--nodes: expected a number, found \"x\" [S03]\n"},
      {{"design", "search", "torus(4,4)", "--time-limit", "nan"},
       "--time-limit: expected a number from 0 to"},
  };
  for (const Misuse& misuse : misuses) {
    const auto result = expect_says(2, misuse.arguments, misuse.says);
    EXPECT_THAT(result.err, ::testing::ContainsRegex("\\[S0[345]\\]\n  see `forestcoll.* --help`"));
  }
}

// A topology may be a file of CSV or JSON, too.
TEST(Usage, AReportIsPrintedAndTakesNoName) {
  const std::string fabric = topology("dgx-a100-x1");
  for (const std::string name : {"x.csv", "x.json", "x.md", "x.tex"}) {
    const std::map<std::string, std::string> options = {
        {"x.csv", "--csv"}, {"x.json", "--json"}, {"x.md", "--markdown"}, {"x.tex", "--latex"}};
    expect_says(2, {"compare", fabric, options.at(name), name},
                name + ": there is no such topology [S05]\n  " + options.at(name) +
                    " prints to standard output: write > " + name + "\n");
  }
}

// What CLI11 took before stays right.
TEST(Usage, TakesTheEndsOfARange) {
  run_well({"bound", topology("dgx-a100-x1"), "--top", "1"});
  run_well({"bound", topology("dgx-a100-x1"), "--top", "1000000"});
  run_well({"topo", "show", topology("dgx-a100-x1"), "--svg", "-", "--detail", "0"});
}

}  // namespace
}  // namespace forestcoll::testing
