// Every word that the command line does not take has a code, its place, and where to look it up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// What CLI11 took before stays right.
TEST(Usage, TakesTheEndsOfARange) {
  run_well({"bound", topology("dgx-a100-x1"), "--top", "1"});
  run_well({"bound", topology("dgx-a100-x1"), "--top", "1000000"});
  run_well({"topo", "show", topology("dgx-a100-x1"), "--svg", "-", "--detail", "0"});
}

}  // namespace
}  // namespace forestcoll::testing
