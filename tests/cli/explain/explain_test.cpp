// `forestcoll explain`, and that it knows what there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "cli/program.hpp"
#include "explain/code_help.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;

/// The sources, but for the table of codes.
std::string sources() {
  std::string all;
  for (const char* folder : {"src", "tools/forestcoll", "tools/run"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_path(folder))) {
      if (entry.is_regular_file() && !entry.path().filename().string().starts_with("code")) {
        all += read_file(entry.path());
      }
    }
  }
  return all;
}

TEST(Explain, OneCodeInAnyCase) {
  const auto upper = run_well({"explain", "W12"});
  EXPECT_THAT(upper.out, HasSubstr("W12: about the topology file: two ranges that look alike"));
  EXPECT_EQ(run({"explain", "w12"}).out, upper.out);
}

TEST(Explain, ACodeHasCauseExampleAndRemedy) {
  const std::string text = run({"explain", "W03"}).out;
  EXPECT_THAT(text, HasSubstr("\n  example:  { \"src\": \"gpu0\""));
  EXPECT_THAT(text, HasSubstr("\n  remedy:   A link goes both ways already"));
  // What the library calls a setting is a flag here.
  EXPECT_THAT(run({"explain", "E15"}).out, HasSubstr("--max-nodes"));
}

TEST(Explain, EveryCodeHasAnExample) {
  for (const CodeInfo& info : codes()) {
    const cli::CodeHelp& help = cli::help_of_code(info.code);
    EXPECT_EQ(help.code, info.code);
    EXPECT_TRUE(help.remedy.ends_with('.')) << info.name;
    EXPECT_FALSE(help.example.empty()) << info.name;
  }
}

// The examples that are command lines are run, with bundled topologies by the names that they use.
TEST(ExplainLong, ExamplesOnTheCommandLineGiveTheirCode) {
  const Scratch scratch;
  scratch.write("a100.json", read_file(topology("dgx-a100-x1")));
  scratch.write("a100-x1.json", read_file(topology("dgx-a100-x1")));
  scratch.write("a100-x2.json", read_file(topology("dgx-a100-x2")));
  scratch.write("dgx-1-v100.json", read_file(topology("dgx-1-v100")));
  scratch.write("torus.json", read_file(topology("torus-4x4")));
  scratch.write("costs.json", read_file(source_path("docs/costs-example.json")));
  scratch.write("bytes.csv", "");
  // These need a schedule, MPI, or a fabric that takes long.
  const std::set<std::string> left_out = {"M03", "M04", "R01", "T09", "X03"};
  std::size_t count = 0;
  for (const CodeInfo& info : codes()) {
    const std::string example(cli::help_of_code(info.code).example);
    const std::string name(info.name);
    if (!example.starts_with("forestcoll ") || left_out.contains(name)) continue;
    ++count;
    const std::string command = "cd " + (scratch / "") + " && " + program_path() +
                                example.substr(std::string("forestcoll").size());
    EXPECT_THAT(run({"-c", command}, {.program = "/bin/sh"}).err, HasSubstr("[" + name + "]"))
        << example;
  }
  EXPECT_GT(count, 25U);
}

TEST(Explain, AnUnknownCodeIsRefused) {
  const auto result = run({"explain", "Q99"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("there is no code \"Q99\""));
}

// A code is an enumerator wherever the program decides by it, and never text.
TEST(Explain, EveryCodeHasAMeaningAndIsUsed) {
  const std::string text = sources();
  std::set<std::string> known;
  for (const CodeInfo& info : codes()) {
    const std::string name(info.name);
    EXPECT_TRUE(known.insert(name).second) << name << " stands twice";
    EXPECT_FALSE(info.meaning.empty()) << name;
    const bool is_of_a_rule = info.about == About::schedule;  // the checker's, by their numbers
    EXPECT_TRUE(is_of_a_rule || text.find("Code::" + name) != std::string::npos) << name;
    EXPECT_EQ(text.find('"' + name + '"'), std::string::npos) << name << " stands as text";
  }
}

TEST(Explain, NamesAreReadBack) {
  for (const CodeInfo& info : codes()) {
    EXPECT_EQ(parse_code(info.name), info.code) << info.name;
    EXPECT_EQ(name_of(info.code), info.name);
    EXPECT_EQ(make_error(info.code, "").kind, info.kind) << info.name;
  }
  EXPECT_EQ(parse_code("Q99"), std::nullopt);
  EXPECT_EQ(parse_code(""), std::nullopt);
  EXPECT_EQ(name_of(std::nullopt), "");
}

TEST(Explain, AnErrorHasItsPlaceAndRemedy) {
  const Diagnostic error =
      make_error(Code::T01, "9 threadblocks", "use fewer", {.file = "a.json", .where = "/links"});
  EXPECT_EQ(error.severity, Severity::error);
  EXPECT_EQ(error.kind, ErrorKind::threadblocks);
  EXPECT_THAT(to_string(error), HasSubstr("a.json: /links: 9 threadblocks [T01]"));
  EXPECT_THAT(to_string(error), HasSubstr("use fewer"));
}

TEST(Explain, ExitCodesAreThoseOfTheKinds) {
  EXPECT_THAT(run({"explain", "T01"}).out, HasSubstr("holds (exit code 3)\n"));
  EXPECT_THAT(run({"explain", "P01"}).out, HasSubstr("(exit code 4)\n"));
  EXPECT_THAT(run({"explain", "E05"}).out, Not(HasSubstr("exit code")));
}

TEST(Explain, TheDocumentHasItsTables) {
  const auto tables = run_well({"explain", "--markdown"});
  EXPECT_THAT(read_file(source_path("docs/diagnostics.md")), EndsWith(tables.out))
      << "write them anew with `forestcoll explain --markdown`";
}

}  // namespace
}  // namespace forestcoll::testing
