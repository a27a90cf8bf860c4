// What the library calls a setting, as a flag; and that the library itself names none.
#include "common/report/flags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/program.hpp"
#include "common/report/report.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/setting.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;

TEST(Flags, SettingsBecomeFlags) {
  EXPECT_EQ(cli::with_flags("a grid with `quantize`, or another `k`."),
            "a grid with --quantize, or another -k.");
  EXPECT_EQ(cli::with_flags("`max_height`: too low"), "--max-height: too low");
  EXPECT_EQ(cli::with_flags("`format=forest` or `k=4`"), "--format forest or -k 4");
  EXPECT_EQ(cli::with_flags("`nvswitch=300` or `split_nvswitch`"),
            "--nvlink nvswitch=300 or --nvswitch split");
  EXPECT_EQ(cli::with_flags("what `to_forest_json` wrote"),
            "what `forestcoll synth --format forest` wrote");
}

TEST(Flags, FunctionsBecomeCommands) {
  EXPECT_EQ(cli::with_flags("`generate()` writes files"), "`forestcoll topo gen` writes files");
  EXPECT_EQ(cli::with_flags("`verify()` says"), "`forestcoll verify` says");
  const Diagnostic error{.code = Code::M04, .file = "a.xml", .remedy = "`verify()` says"};
  EXPECT_EQ(cli::with_flags(error).remedy, "`forestcoll verify a.xml` says");
  EXPECT_EQ(cli::to_json(error)["remedy"], "`forestcoll verify a.xml` says");
}

TEST(Flags, OtherWordsStay) {
  for (const char* text : {"", "no settings", "the sides of a `zip`", "`forestcoll topo check`",
                           "a ` alone, k", "`", "``", "`no_such_setting=3`", "quantize"}) {
    EXPECT_EQ(cli::with_flags(text), text);
  }
}

TEST(Flags, InputStaysAsItIs) {
  EXPECT_EQ(cli::with_flags("no node is called \"`drop`\"; `drop` takes ids"),
            "no node is called \"`drop`\"; --drop takes ids");
}

TEST(Flags, MarkdownKeepsTheBackquotes) {
  EXPECT_EQ(cli::with_flags_in_markdown("`zip`; `quantize` helps"), "`zip`; `--quantize` helps");
  EXPECT_EQ(cli::with_flags_in_markdown("`generate`: no such fabric"),
            "`topo gen`: no such fabric");
}

TEST(Flags, OfFindingsInAllTheirWords) {
  const Diagnostic error{.code = Code::D01,
                         .file = "`drop`",
                         .where = "`drop`",
                         .message = "or `derate`",
                         .remedy = "see `ranks`"};
  const Diagnostics shown = cli::with_flags(Diagnostics{error});
  EXPECT_EQ(to_string(shown.front()), "`drop`: --drop: or --derate [D01]\n  see --ranks");
  EXPECT_EQ(to_string(cli::with_flags(shown).front()), to_string(shown.front()));
  const cli::Json json = cli::to_json(error);
  EXPECT_EQ(json["where"], "--drop");
  EXPECT_EQ(json["message"], "or --derate");
  EXPECT_EQ(json["remedy"], "see --ranks");
}

TEST(Flags, ParametersOfGeneratorsAreSome) {
  for (const Generator& generator : generators()) {
    for (const GeneratorParameter& parameter : generator.parameters) {
      EXPECT_EQ(cli::with_flags("`" + parameter.name + "`"), "--" + parameter.name);
    }
  }
}

/// The string literals of a line, with their quotes.
std::vector<std::string> literals_of(const std::string& line) {
  std::vector<std::string> found;
  for (std::size_t begin = line.find('"'); begin != std::string::npos;
       begin = line.find('"', begin)) {
    std::size_t end = begin + 1;
    while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
    if (end >= line.size()) break;
    found.push_back(line.substr(begin, end + 1 - begin));
    begin = end + 1;
  }
  return found;
}

/// Those of the library, which holds some 100,000 lines.
std::vector<std::string> literals_of_the_library() {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(source_path("src"))) {
    if (!entry.is_regular_file()) continue;
    std::istringstream text(read_file(entry.path()));
    for (std::string line; std::getline(text, line);) {
      const std::size_t begin = line.find_first_not_of(' ');
      if (begin == std::string::npos || line.compare(begin, 2, "//") == 0 || line[begin] == '#') {
        continue;
      }
      for (std::string& literal : literals_of(line)) found.push_back(std::move(literal));
    }
  }
  return found;
}

TEST(Flags, TheLibraryNamesNone) {
  const std::regex flag(R"re((^"|[\s(`])(--[a-z]|-[a-z]($|[^a-z])))re");
  const std::regex other_programs(
      "lstopo --of xml|nvidia-smi topo -m|dot -Tcanon|nvidia-smi nvlink -[se]( and -e)?|"
      "nvidia-smi -q|dcgmi nvlink -s|rocm-smi --showtopo( and --showxgmierr)?|iblinkinfo "
      "(-l|without --down)");
  const std::vector<std::string> literals = literals_of_the_library();
  for (const std::string& literal : literals) {
    if (literal.find('-') == std::string::npos) continue;
    const std::string ours = std::regex_replace(literal, other_programs, "");
    EXPECT_FALSE(std::regex_search(ours, flag)) << literal;
  }
  EXPECT_GT(literals.size(), 5000U);
}

// But for those of `design` in the table of codes, which has codes that only commands use.
TEST(Flags, TheLibraryNamesNoCommands) {
  const std::regex command("`(forestcoll |topo |synth |bound |compare |verify |simulate |batch )");
  for (const std::string& literal : literals_of_the_library()) {
    EXPECT_FALSE(std::regex_search(literal, command)) << literal;
  }
}

// What is no setting has a name in the file, or is a function with a command of its name.
TEST(Flags, WhatTheLibraryNamesIsKnown) {
  const std::set<std::string> others = {"bound",  "compare", "design",     "merge", "multicast",
                                        "reduce", "verify",  "rank_order", "zip"};
  const std::regex name(R"re(`([a-z][a-z0-9_-]*)(=[^`]*|\([a-z]*\))?`)re");
  std::set<std::string> known;
  for (const std::string& literal : literals_of_the_library()) {
    for (std::sregex_iterator it(literal.begin(), literal.end(), name), end; it != end; ++it) {
      const std::string text = it->str();
      if (others.contains((*it)[1])) continue;
      EXPECT_TRUE(std::holds_alternative<Mention>(parts_of(text).front())) << literal;
      known.insert((*it)[1]);
    }
  }
  EXPECT_GT(known.size(), 35U);
}

}  // namespace
}  // namespace forestcoll::testing
