// `forestcoll compare` from outside: tables, chart and page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <regex>
#include <string>
#include <vector>

#include "cli/compare.hpp"
#include "support/svg_picture.hpp"

namespace forestcoll::testing {
namespace {

TEST(CompareLong, TerminalMarkdownAndLatexSayThatItIsAModel) {
  const std::vector<std::string> few = {"--algorithms", "forestcoll,nccl-ring,nvls", "--sizes",
                                        "1M,1G"};
  for (const std::string format : {"", "--markdown", "--latex"}) {
    auto arguments = few;
    if (!format.empty()) arguments.push_back(format);
    const auto result = compare(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("model, not measurement")) << format;
    EXPECT_THAT(result.out, HasSubstr("[B03]")) << format;
  }
}

// In a compiled document too.
TEST(Compare, LatexSaysItOutsideOfComments) {
  const auto result = compare(
      {"--latex", "--algorithms", "forestcoll,nccl-ring", "--sizes", "1M,1G"}, "dgx-a100-x1");
  std::size_t models = 0, sentences = 0;
  for (const std::string& line : lines(result.out)) {
    if (line.starts_with('%')) continue;
    models += line.find("model, not measurement") != std::string::npos ? 1 : 0;
    sentences += line.starts_with("For large messages") || line.starts_with("By size") ? 1 : 0;
  }
  EXPECT_EQ(models, 1U) << result.out;
  EXPECT_EQ(sentences, 2U) << result.out;
}

TEST(CompareLong, AFileTookNoTimeToMake) {
  const Scratch scratch;
  const std::string file = scratch / "f.json";
  ASSERT_EQ(run({"synth", topology("torus-4x4"), "--format", "forest", "-o", file}).code, 0);
  const auto text =
      compare({"--algorithms", "nccl-ring", "--schedule", file, "--sizes", "1M"}, "torus-4x4").out;
  EXPECT_THAT(text, HasSubstr("made in"));
  EXPECT_THAT(text, Not(HasSubstr("0.00 us")));
}

TEST(CompareLong, MarkdownHasEvenTables) {
  const auto result =
      compare({"--markdown", "--algorithms", "forestcoll,nccl-ring", "--sizes", "1M,1G"});
  std::size_t columns = 0, rows = 0;
  for (const std::string& line : lines(result.out)) {
    const auto bars = static_cast<std::size_t>(std::ranges::count(line, '|'));
    if (bars == 0) {
      columns = 0;
      continue;
    }
    if (columns == 0) columns = bars;
    EXPECT_EQ(bars, columns) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 5U + 4U);
  EXPECT_THAT(result.out, HasSubstr("**"));
}

TEST(Compare, LatexEscapesNames) {
  const Scratch scratch;
  std::string text = small_topology();
  text.replace(text.find("pair"), 4, "50%_#&~^{} pair");
  const std::string file = scratch.write("a_b.json", text);
  const auto forest = scratch / "f_1.json";
  ASSERT_EQ(run({"synth", file, "--format", "forest", "-o", forest}).code, 0);
  const auto result =
      run_well({"compare", file, "--trees", "--latex", "--sizes", "1M", "--schedule", forest});
  EXPECT_THAT(result.out, HasSubstr("f\\_1.json"));
  for (const std::string& line : lines(result.out)) {
    if (line.starts_with('%')) continue;
    EXPECT_FALSE(std::regex_search(line, std::regex("[^\\\\][%_#]"))) << line;
  }
}

TEST(CompareLong, CsvHasOneLinePerAlgorithmAndSize) {
  const auto result =
      compare({"--csv", "--algorithms", "forestcoll,nccl-ring,nvls", "--sizes", "1M,1G"});
  const auto all = lines(result.out);
  ASSERT_EQ(all.size(), 1U + 2U * 2U + 1U);
  for (const std::string& line : all) EXPECT_EQ(csv_cells(line).size(), 18U) << line;
  EXPECT_EQ(csv_cells(all[1]).back(), "trees");
  EXPECT_EQ(csv_cells(all[1])[5], "520/3");
  const auto json = compare_json({"--algorithms", "nvls", "--sizes", "1M"});
  EXPECT_EQ(csv_cells(all.back())[4],
            row(json, "nvls")["error"]["message"].get<std::string>() + " [B03]");
}

TEST(Compare, TheTablesGoToAFileBesideAnotherReport) {
  const Scratch scratch;
  const std::string file = scratch / "tables.txt";
  const auto result =
      compare({"--algorithms", "forestcoll,nccl-ring", "--sizes", "1M", "--json", "--table", file},
              "dgx-a100-x1");
  EXPECT_EQ(nlohmann::json::parse(result.out)["rows"].size(), 2U);
  EXPECT_THAT(read_file(file), StartsWith("DGX A100: allreduce over 8 GPUs\n"));
  EXPECT_EQ(compare({"--table", "-"}, "dgx-a100-x1").code, 2);
}

TEST(CompareLong, TheChartIsSvg) {
  const Scratch scratch;
  const auto result = compare({"--algorithms", "forestcoll,nccl-ring,double-tree", "--sizes",
                               "1K:4G:16", "--svg", scratch / "chart.svg"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string text = read_file(scratch / "chart.svg");
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(text.c_str())) << text;
  const auto svg = document.child("svg");
  EXPECT_EQ(std::string(svg.attribute("xmlns").value()), "http://www.w3.org/2000/svg");
  std::size_t series = 0;
  for (const auto group : svg.children("g")) {
    const std::string points = group.child("polyline").attribute("points").value();
    EXPECT_EQ(std::ranges::count(points, ','), 6) << points;
    ++series;
  }
  EXPECT_EQ(series, 3U);
  EXPECT_THAT(text, HasSubstr("model, not measurement"));
  EXPECT_THAT(text, HasSubstr("prefers-color-scheme:dark"));
  // Solid, ours last, and no name covers another one or is cut off.
  EXPECT_GT(text.rfind("<g class=\"fc-series fc-s0\">"),
            text.rfind("<g class=\"fc-series fc-s2\">"));
  const auto polylines = svg.select_nodes("//polyline[@stroke-dasharray]");
  EXPECT_EQ(polylines.size(), 0U);
  const test::SvgPicture picture = test::read_svg(text);
  EXPECT_THAT(picture.overlaps, IsEmpty());
  EXPECT_THAT(picture.outside, IsEmpty());
}

// More than six lines: the others are grey and listed below.
TEST(CompareLong, TheChartNamesSixLines) {
  const auto result = compare({"--algorithms",
                               "forestcoll,nccl-ring,ring,double-tree,halving-doubling,multitree,"
                               "bfb,greedy",
                               "--sizes", "1K:4G:16", "--svg", "-"},
                              "dgx-a100-x1");
  ASSERT_EQ(result.code, 0) << result.err;
  const test::SvgPicture picture = test::read_svg(result.out);
  EXPECT_THAT(picture.overlaps, IsEmpty());
  EXPECT_THAT(picture.outside, IsEmpty());
  EXPECT_EQ(std::ranges::count_if(
                picture.texts,
                [](const test::SvgText& text) { return text.classes.starts_with("fc-name"); }),
            6);
  EXPECT_THAT(result.out, HasSubstr(">grey: "));
}

// The slowest of seven at most sizes.
TEST(CompareLong, TheChartNamesTheRuntimesChoice) {
  const auto result = run({"compare", topology("dgx-a100-x2"), "--algorithms",
                           "greedy,two-level,hierarchical,bfb,recursive-doubling,double-tree,"
                           "nccl-pick",
                           "--sizes", "16K,1G", "--svg", "-"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr(">nccl-pick</text>"), HasSubstr(">grey: ")));
}

TEST(Compare, TheChartEscapesNames) {
  const Scratch scratch;
  std::string text = small_topology();
  text.replace(text.find("pair"), 4, "A & B <'c'>");
  const auto result =
      run({"compare", scratch.write("t.json", text), "--trees", "--sizes", "1M,1G", "--svg", "-"});
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(result.out.c_str())) << result.out;
  EXPECT_EQ(std::string(document.child("svg").attribute("aria-label").value()),
            "allreduce, A & B <'c'>");
}

TEST(CompareLong, TheChartShortensLongNames) {
  const Scratch scratch;
  const std::string file = scratch / "a-schedule-with-a-long-näme.json";
  ASSERT_EQ(run({"synth", topology("torus-4x4"), "--format", "forest", "-o", file}).code, 0);
  const auto svg =
      compare({"--algorithms", "forestcoll", "--schedule", file, "--sizes", "1M,1G", "--svg", "-"},
              "torus-4x4");
  EXPECT_THAT(svg.out, HasSubstr(">a-schedule-with-a-l…</text>"));
  EXPECT_THAT(svg.out, HasSubstr(">forestcoll</text>"));
}

TEST(Compare, SvgAndHtmlOnStandardOutputStandAlone) {
  const std::vector<std::string> few = {"--algorithms", "forestcoll", "--sizes", "1M,1G"};
  auto svg = few;
  svg.insert(svg.end(), {"--svg", "-"});
  EXPECT_THAT(compare(svg).out, StartsWith("<svg"));
  auto both = svg;
  both.insert(both.end(), {"--html", "-"});
  EXPECT_EQ(compare(both).code, 2);
}

TEST(CompareLong, ThePageIsWholeAndAsksForNothing) {
  const Scratch scratch;
  const std::vector<std::string> arguments = {"--algorithms", "forestcoll,nccl-ring,nvls",
                                              "--sizes",      "1M,1G",
                                              "--html",       scratch / "report.html"};
  const auto result = compare(arguments);
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string page = read_file(scratch / "report.html");
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, HasSubstr("model, not measurement"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  // Two charts and the fabric.
  std::size_t pictures = 0;
  for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at) ++pictures;
  EXPECT_EQ(pictures, 3U);
  const std::regex loads("(src|href|url)\\s*[=(]\\s*[\"']?(https?:)?//");
  EXPECT_FALSE(std::regex_search(page, loads));
  for (const std::string threads : {"1", "3"}) {
    auto again = arguments;
    again.insert(again.end(), {"-j", threads});
    ASSERT_EQ(compare(again).code, 0);
    EXPECT_EQ(read_file(scratch / "report.html"), page) << "same input, same bytes";
  }
}

// Of trees that branch, the page has the switches among what a tree spans.
TEST(CompareLong, ThePageHasTreesThatBranch) {
  const Scratch scratch;
  run_well({"compare", scratch.write("t.json", combining_switch()), "--sizes", "1M", "--algorithms",
            "nvls", "--html", scratch / "report.html"});
  const std::string page = read_file(scratch / "report.html");
  EXPECT_THAT(page, HasSubstr(R"("phase":"reduce","total":8)"));
  EXPECT_THAT(page, HasSubstr(R"("ranks":[0,1,2,3,4,5,6,7,8])"));
}

TEST(CompareLong, TextFromTheFileCannotEndTheScript) {
  const Scratch scratch;
  std::string text = small_topology();
  text.replace(text.find("pair"), 4, "</script><script>alert(1)</script><!--");
  run_well({"compare", scratch.write("t.json", text), "--trees", "--sizes", "1M", "--html",
            scratch / "report.html"});
  const std::string page = read_file(scratch / "report.html");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = page.find("</script>", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2U);
}

// Pictures are drawn by the program itself.
TEST(Compare, ThePageNeedsNoOtherProgram) {
  const Scratch scratch;
  run_well({"compare", topology("dgx-a100-x1"), "--trees", "--algorithms", "forestcoll", "--sizes",
            "1M", "--html", scratch / "report.html"},
           {.environment = {"PATH=/nowhere"}});
  EXPECT_THAT(read_file(scratch / "report.html"), HasSubstr("<g class=\"node gpu\">"));
}

}  // namespace
}  // namespace forestcoll::testing
