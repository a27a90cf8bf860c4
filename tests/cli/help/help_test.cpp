// The help in other forms: completions at a shell's prompt, and the manual page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Contains;

std::string script_for(const std::string& shell) {
  return run_well({"completion", shell}).out;
}

// What bash offers for the last of `words`.
std::vector<std::string> offered(const std::vector<std::string>& words) {
  std::string typed;
  for (const std::string& word : words) typed += " '" + word + "'";
  const std::string program = script_for("bash") + "COMP_WORDS=(" + typed +
                              ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_forestcoll\n"
                              "printf '%s\\n' \"${COMPREPLY[@]}\"\n";
  const Scratch scratch;
  const auto shell = run_well({scratch.write("offer.sh", program)}, {.program = "/bin/bash"});
  EXPECT_THAT(shell.err, IsEmpty());
  std::vector<std::string> lines;
  std::istringstream text(shell.out);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(Completion, OffersCommands) {
  EXPECT_THAT(offered({"forestcoll", "sy"}), AllOf(Contains("synth"), Not(Contains("bound"))));
  EXPECT_THAT(offered({"forestcoll", "topo", ""}), AllOf(Contains("gen"), Contains("show")));
  EXPECT_THAT(offered({"forestcoll", ""}), Not(Contains("batch-worker"))) << "for itself alone";
}

TEST(Completion, OffersTheOptionsOfTheCommand) {
  EXPECT_THAT(offered({"forestcoll", "synth", "--tar"}), Contains("--target"));
  EXPECT_THAT(offered({"forestcoll", "bound", "--tar"}), Contains("--target"));
  EXPECT_THAT(offered({"forestcoll", "bound", "--inst"}), Not(Contains("--instances")));
  EXPECT_THAT(offered({"forestcoll", "-q", "topo", "show", "--s"}), Contains("--svg"));
}

TEST(Completion, OffersValuesWhereTheyAreFew) {
  EXPECT_THAT(offered({"forestcoll", "synth", "a.json", "--format", "m"}),
              ::testing::UnorderedElementsAre("msccl", "mscclpp"));
  EXPECT_THAT(offered({"forestcoll", "completion", "z"}), Contains("zsh"));
  EXPECT_THAT(offered({"forestcoll", "topo", "gen", "dgx-h100", "--fabric", "r"}),
              AllOf(Contains("rail"), Contains("rail-spine"), Not(Contains("single"))));
}

TEST(Completion, OffersKnownNames) {
  EXPECT_THAT(offered({"forestcoll", "synth", "a.json", "-c", "all"}),
              ::testing::UnorderedElementsAre("allreduce", "allgather", "alltoall"));
  EXPECT_THAT(offered({"forestcoll", "verify", "--target", "mscclpp-0.1"}),
              ::testing::ElementsAre("mscclpp-0.10"));
  EXPECT_THAT(offered({"forestcoll", "simulate", "--gpu", "h1"}), Contains("h100"));
  EXPECT_THAT(offered({"forestcoll", "topo", "gen", "dgx-h"}), Contains("dgx-h100"));
  EXPECT_THAT(offered({"forestcoll", "explain", "W0"}),
              AllOf(Contains("W03"), Not(Contains("E05"))));
}

TEST(Completion, CompletesTheLastNameOfAList) {
  EXPECT_THAT(offered({"forestcoll", "compare", "--algorithms", "nccl-r"}),
              ::testing::ElementsAre("nccl-ring"));
  EXPECT_THAT(offered({"forestcoll", "compare", "--algorithms", "nccl-ring,one-s"}),
              ::testing::ElementsAre("nccl-ring,one-shot"));
}

TEST(Completion, OffersFilesElsewhere) {
  const Scratch scratch;
  const std::string file = scratch.write("fabric.json", "{}");
  EXPECT_THAT(offered({"forestcoll", "bound", scratch / "fab"}), Contains(file));
  EXPECT_THAT(offered({"forestcoll", "synth", "-o", scratch / "fab"}), Contains(file));
}

TEST(Completion, OfOtherShellsNamesEveryCommandAndOption) {
  for (const std::string shell : {"zsh", "fish"}) {
    EXPECT_THAT(script_for(shell),
                AllOf(HasSubstr("synth"), HasSubstr("tradeoff"), HasSubstr("forest-symmetric")))
        << shell;
  }
}

TEST(Completion, RefusesAShellThatItDoesNotKnow) {
  const auto refused = run({"completion", "csh"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("csh"), HasSubstr("bash")));
}

// The lines of a text, and the longest of them.
std::pair<std::size_t, std::size_t> size_of(const std::string& text) {
  std::istringstream lines(text);
  std::size_t count = 0, longest = 0;
  for (std::string line; std::getline(lines, line); ++count)
    longest = std::max(longest, line.size());
  return {count, longest};
}

TEST(Help, OfALargeCommandFitsAScreen) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"synth"},
                                             {"bound"},
                                             {"compare"},
                                             {"batch"},
                                             {"verify"},
                                             {"simulate"},
                                             {"topo", "show"},
                                             {"topo", "import"}}) {
    std::vector<std::string> words = command;
    words.emplace_back("--help");
    const auto help = run(words);
    EXPECT_EQ(help.code, 0) << command.front();
    const auto [lines, longest] = size_of(help.out);
    EXPECT_LE(lines, 55U) << help.out;
    EXPECT_LE(longest, 100U) << help.out;
    EXPECT_THAT(help.out, AllOf(HasSubstr("\nCommon options:\n"), HasSubstr("--help-all explains"),
                                HasSubstr("\nExample"), HasSubstr("\nExit codes:")));
  }
}

// The common options come first and in brief; no option is left out.
TEST(Help, NamesEveryOptionAndExplainsAllWhenAsked) {
  const std::string brief = run({"synth", "--help"}).out;
  const auto all = run_well({"synth", "--help-all"});
  std::size_t options = 0;
  std::istringstream lines(all.out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find("--");
    if (!line.starts_with("  -") || begin == std::string::npos) continue;
    ++options;
    EXPECT_THAT(brief, HasSubstr(line.substr(begin, line.find_first_of(" ,", begin) - begin)));
  }
  EXPECT_GT(options, 50U);
  EXPECT_THAT(brief, AllOf(HasSubstr("-c,--collective"), HasSubstr("(default allreduce)"),
                           Not(HasSubstr("Microseconds"))));
  EXPECT_THAT(all.out, AllOf(HasSubstr("Microseconds"), HasSubstr("\nSolving:\n"),
                             HasSubstr("\nReading the topology:\n")));
  EXPECT_LT(all.out.find("Common options:"), all.out.find("Solving:"));
}

TEST(Help, OfASmallCommandIsWhole) {
  EXPECT_EQ(run({"man", "--help"}).out, run({"man", "--help-all"}).out);
  EXPECT_EQ(run({"--help"}).out, run({"--help-all"}).out);
}

TEST(ManPage, HasEveryCommandAndIsRoff) {
  const auto page = run_well({"man"});
  for (const std::string command : {"synth", "bound", "verify", "topo show", "batch"}) {
    EXPECT_THAT(page.out, HasSubstr(".SS \"forestcoll " + command + "\"")) << command;
  }
  EXPECT_THAT(page.out, Not(HasSubstr("batch\\-worker")));
  EXPECT_THAT(page.out, HasSubstr("\\-\\-max\\-height"));
  EXPECT_THAT(page.out, HasSubstr("Buffer sizes to simulate: a comma\\-separated list"));
  EXPECT_THAT(page.out, HasSubstr("(default 1K:4G:4)"));
  EXPECT_THAT(page.out, HasSubstr("interrupted"));
}

TEST(Help, OfABatchLeadsWithWhatFailsABuild) {
  const std::string brief = run_well({"batch", "--help"}).out;
  const std::string common = brief.substr(0, brief.find("More options"));
  EXPECT_THAT(common, AllOf(HasSubstr("(default allreduce)"), HasSubstr("--baseline FILE"),
                            HasSubstr("--tolerance"), HasSubstr("--fail-on")));
  EXPECT_THAT(run_well({"compare", "--help"}).out,
              AllOf(HasSubstr("(default 1K:4G:4)"), HasSubstr("[OPTIONS] TOPOLOGY...\n"),
                    HasSubstr("or several to compare in one\n")));
}

// Not the parser's "TEXT", "REQUIRED" and "Needs:".
TEST(Help, NamesValuesAsTheCommandsDo) {
  const std::string all = run_well({"synth", "--help-all"}).out;
  EXPECT_THAT(all, AllOf(HasSubstr("--json-version {1,2} (with --json)"),
                         HasSubstr("--members LIST (without --ranks)"),
                         HasSubstr("--effort {fast,default,max}=default")));
  EXPECT_THAT(run_well({"design", "direct", "--help"}).out, HasSubstr("--nodes N (required)"));
  EXPECT_THAT(run_well({"explain", "--help"}).out, HasSubstr("\n  CODE  "));
  for (const char* word : {"TEXT", "REQUIRED", "Needs:", "Excludes:"}) {
    EXPECT_THAT(all, Not(HasSubstr(word)));
  }
}

}  // namespace
}  // namespace forestcoll::testing
