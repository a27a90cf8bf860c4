// The help in other forms: completions at a shell's prompt, and the manual page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string script_for(const std::string& shell) {
  const auto printed = run({"completion", shell});
  EXPECT_EQ(printed.code, 0) << printed.err;
  return printed.out;
}

// What bash offers for the last of `words`.
std::vector<std::string> offered(const std::vector<std::string>& words) {
  std::string typed;
  for (const std::string& word : words) typed += " '" + word + "'";
  const std::string program = script_for("bash") + "COMP_WORDS=(" + typed +
                              ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_forestcoll\n"
                              "printf '%s\\n' \"${COMPREPLY[@]}\"\n";
  const Scratch scratch;
  const auto shell = run({scratch.write("offer.sh", program)}, {.program = "/bin/bash"});
  EXPECT_EQ(shell.code, 0) << shell.err;
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

TEST(ManPage, HasEveryCommandAndIsRoff) {
  const auto page = run({"man"});
  ASSERT_EQ(page.code, 0) << page.err;
  for (const std::string command : {"synth", "bound", "verify", "topo show", "batch"}) {
    EXPECT_THAT(page.out, HasSubstr(".SS \"forestcoll " + command + "\"")) << command;
  }
  EXPECT_THAT(page.out, Not(HasSubstr("batch\\-worker")));
  EXPECT_THAT(page.out, HasSubstr("\\-\\-max\\-height"));
  EXPECT_THAT(page.out, HasSubstr("interrupted"));
}

}  // namespace
}  // namespace forestcoll::testing
