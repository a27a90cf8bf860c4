// No command writes over what it reads, nor two outputs into one file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Words = std::vector<std::string>;

struct Clash {
  std::string name;
  Words words;       ///< FILE, NEW and OTHER stand for paths: an input, and two that do not exist
  std::string says;  ///< what the error names
};

void PrintTo(const Clash& clash, std::ostream* out) {
  *out << clash.name;
}

std::string name_of(const ::testing::TestParamInfo<Clash>& info) {
  return info.param.name;
}

Words with_paths(Words words, const Scratch& scratch) {
  for (std::string& word : words) {
    if (word.ends_with("FILE")) word.replace(word.size() - 4, 4, scratch / "t.json");
    if (word == "LINK") word = scratch / "link.json";
    if (word == "NEW") word = scratch / "new";
    if (word == "NEW BY ANOTHER WAY") word = scratch / "./new";
    if (word == "DANGLING") word = scratch / "dangling";
  }
  return words;
}

class NamedFiles : public ::testing::TestWithParam<Clash> {
 protected:
  NamedFiles() {
    scratch.write("t.json", small_topology());
    std::filesystem::create_symlink("t.json", scratch / "link.json");
    std::filesystem::create_symlink("new", scratch / "dangling");
  }
  Scratch scratch;
};

TEST_P(NamedFiles, AreRefusedBeforeAnythingIsComputed) {
  const auto result = run(with_paths(GetParam().words, scratch), {.input = small_topology()});
  EXPECT_EQ(result.code, 2) << result.err;
  // The errors are the report where one was asked for.
  const bool reports = std::ranges::count(GetParam().words, "--json") > 0;
  EXPECT_THAT(result.out, reports ? HasSubstr("forestcoll-error") : HasSubstr(""));
  EXPECT_EQ(result.out.empty(), !reports);
  EXPECT_THAT(result.err, AllOf(HasSubstr(GetParam().says), HasSubstr("[S04]")));
  EXPECT_EQ(read_file(scratch / "t.json"), small_topology());
  EXPECT_THAT(scratch.names(), ElementsAre("dangling", "link.json", "t.json"));
}

INSTANTIATE_TEST_SUITE_P(
    OverAnInput, NamedFiles,
    ::testing::Values(
        Clash{"synth",
              {"synth", "-k", "auto", "FILE", "-o", "FILE"},
              "/t.json names the topology file itself"},
        Clash{"synth_link", {"synth", "-k", "auto", "FILE", "-o", "LINK"}, "topology file itself"},
        Clash{"synth_warm",
              {"synth", topology("dgx-a100-x1"), "--warm", "FILE", "-o", "FILE"},
              "--warm file itself"},
        Clash{"synth_rings",
              {"synth", topology("dgx-a100-x1"), "--algorithm", "nccl-ring", "--nccl-graph", "FILE",
               "-o", "FILE"},
              "--nccl-graph file itself"},
        Clash{
            "synth_tune", {"synth", "FILE", "--tune", "1M", "-o", "FILE"}, "topology file itself"},
        Clash{"show_svg", {"topo", "show", "FILE", "--svg", "FILE"}, "--svg"},
        Clash{"show_png", {"topo", "show", "LINK", "--png", "FILE"}, "--png"},
        Clash{"show_dot", {"topo", "show", "FILE", "--dot", "FILE"}, "--dot"},
        Clash{"convert", {"topo", "convert", "FILE", "-o", "FILE"}, "-o"},
        Clash{"convert_csv", {"topo", "convert", "FILE", "--to", "csv", "-o", "LINK"}, "-o"},
        Clash{"import", {"topo", "import", "auto", "FILE", "-o", "FILE"}, "imported file itself"},
        Clash{"import_box",
              {"topo", "import", "ibnetdiscover", topology("dgx-a100-x1"), "--box", "FILE", "-o",
               "FILE"},
              "--box file itself"},
        Clash{"import_bandwidths",
              {"topo", "import", "auto", topology("dgx-a100-x1"), "--bandwidths", "FILE", "-o",
               "FILE"},
              "--bandwidths file itself"},
        Clash{"compare_svg", {"compare", "FILE", "--svg", "FILE"}, "topology file itself"},
        Clash{"compare_html", {"compare", "FILE", "--html", "LINK"}, "topology file itself"},
        Clash{"compare_schedule",
              {"compare", topology("dgx-a100-x1"), "--schedule", topology("torus-4x4"),
               "--schedule", "FILE", "--svg", "FILE"},
              "--schedule file itself"},
        Clash{"compare_measured",
              {"compare", topology("dgx-a100-x1"), "--measured", "nccl-ring=FILE", "--svg", "FILE"},
              "--measured file itself"},
        Clash{"compare_parameters",
              {"compare", topology("dgx-a100-x1"), "--parameters", "FILE", "--html", "FILE"},
              "--parameters file itself"},
        Clash{"compare_rings",
              {"compare", topology("dgx-a100-x1"), "--nccl-graph", "FILE", "--svg", "FILE"},
              "--nccl-graph file itself"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    IntoOneFile, NamedFiles,
    ::testing::Values(
        Clash{"show", {"topo", "show", "FILE", "--svg", "NEW", "--dot", "NEW"}, "--svg and --dot"},
        Clash{"show_another_way",
              {"topo", "show", "FILE", "--png", "NEW", "--dot", "NEW BY ANOTHER WAY"},
              "--png and --dot both go to"},
        Clash{"show_dangling",
              {"topo", "show", "FILE", "--svg", "DANGLING", "--dot", "NEW"},
              "--svg and --dot both go to"},
        Clash{"show_streams",
              {"topo", "show", "FILE", "--svg", "-", "--dot", "-"},
              "--svg and --dot both go to standard output"},
        Clash{"show_report",
              {"topo", "show", "FILE", "--svg", "-", "--json"},
              "--svg and the report both go to standard output"},
        Clash{"compare", {"compare", "FILE", "--svg", "NEW", "--html", "NEW"}, "--svg and --html"},
        Clash{"compare_streams",
              {"compare", "FILE", "--svg", "-", "--html", "-"},
              "--svg and --html both go to standard output"},
        Clash{"compare_report",
              {"compare", "FILE", "--html", "-", "--csv"},
              "--html and the report both go to standard output"},
        Clash{"synth_report",
              {"synth", "-k", "auto", "FILE", "-o", "/dev/stdout", "--json"},
              "-o and --json both go to standard output"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    OfOneStream, NamedFiles,
    ::testing::Values(
        Clash{"synth", {"synth", "-", "--warm", "-", "-o", "NEW"}, "both come from standard input"},
        Clash{"simulate", {"simulate", "-", "-"}, "both come from standard input"},
        Clash{"verify", {"verify", "-", "--topology", "-"}, "both come from standard input"},
        Clash{"check", {"topo", "check", "-", "-"}, "both come from standard input"},
        Clash{"compare",
              {"compare", "-", "--measured", "nccl-ring=-", "--svg", "NEW"},
              "both come from standard input"},
        Clash{"import",
              {"topo", "import", "ibnetdiscover", "-", "--box", "-", "-o", "NEW"},
              "both come from standard input"}),
    name_of);

// `forestcoll bound t.json >> t.json`
TEST(StandardOutput, IsNoInput) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", small_topology());
  for (const Words& words : std::vector<Words>{{"bound", file},
                                               {"topo", "check", file},
                                               {"topo", "show", file},
                                               {"topo", "convert", file, "--to", "csv"},
                                               {"topo", "import", "auto", file},
                                               {"synth", "-k", "auto", file},
                                               {"compare", file, "--trees"},
                                               {"verify", file},
                                               {"simulate", file, topology("dgx-a100-x1")}}) {
    const std::string command = words[0] == "topo" ? words[1] : words[0];
    SCOPED_TRACE(command);
    const auto result = run(words, {.before_exec = [&] {
                              std::FILE* end = std::fopen(file.c_str(), "a");
                              if (end == nullptr || dup2(fileno(end), STDOUT_FILENO) < 0) _exit(9);
                            }});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("standard output is the "), HasSubstr("[S04]")));
    EXPECT_EQ(read_file(file), small_topology());
  }
}

// `forestcoll topo convert - -o t.json < t.json`
TEST(StandardInput, IsNoOutput) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", small_topology());
  expect_says(2, {"topo", "convert", "-", "-o", file}, "topology file itself", {.before_exec = [&] {
                std::FILE* begin = std::fopen(file.c_str(), "r");
                if (begin == nullptr || dup2(fileno(begin), STDIN_FILENO) < 0) _exit(9);
              }});
  EXPECT_EQ(read_file(file), small_topology());
}

TEST(NamedTwice, RelativeNamesAreSeenThrough) {
  const Scratch scratch;
  scratch.write("t.json", small_topology());
  expect_says(2, {"topo", "show", "t.json", "--svg", "new", "--dot", "./new"},
              "--svg and --dot both go to ./new [S04]",
              {.before_exec = [&] { chdir((scratch / "").c_str()) == 0 || (_exit(9), 0); }});
  EXPECT_THAT(scratch.names(), ElementsAre("t.json"));
}

TEST(NamedTwice, WhatIsHarmlessIsLeftAlone) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", small_topology());
  EXPECT_EQ(run({"topo", "show", file, "--svg", "/dev/null", "--dot", "/dev/null"}).code, 0);
  EXPECT_EQ(run({"bound", "-"}, {.input = small_topology(), .stdout_path = "/dev/null"}).code, 0);
  const std::string xml = scratch / "a.xml";
  ASSERT_EQ(run({"synth", "-k", "auto", file, "-o", xml}).code, 0);
  EXPECT_EQ(run({"compare", file, "--trees", "--schedule", xml, "--schedule", xml, "--svg",
                 scratch / "s"})
                .code,
            0);
  EXPECT_EQ(run({"synth", file, "--format", "none", "--json", "-o", "-"}).code, 0);
}

}  // namespace
}  // namespace forestcoll::testing
