// `forestcoll design` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "support/svg_picture.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;

using ::testing::Contains;

Json direct_json(const std::vector<std::string>& arguments) {
  return json_of(joined({"design", "direct", "--json"}, arguments),
                 "forestcoll-design-direct.schema.json");
}

TEST(DesignDirectLong, ReportsEveryWiringExactly) {
  const auto report = direct_json({"-n", "16", "--ports", "4", "--also", "ring(8)*2"});
  EXPECT_EQ(report["aim"], "all");
  std::vector<std::string> names;
  for (const auto& wiring : report["wirings"]) {
    names.push_back(wiring["wiring"]);
    EXPECT_GE(wiring["relative_time"]["allgather"]["value"].get<double>(), 15.0 / 16)
        << names.back();
    if (names.back() == "hypercube(4)") {
      EXPECT_EQ(wiring["relative_time"]["alltoall"]["at_most"]["exact"], "2");
      EXPECT_EQ(wiring["published"]["step_count"], 4);
    }
  }
  EXPECT_THAT(names, Contains("hypercube(4)"));
  EXPECT_TRUE(std::ranges::any_of(report["wirings"], [](const Json& w) { return w["front"]; }));
}

TEST(DesignDirectLong, TwoWayTopologiesLeadAndOneWayOnesAreMarked) {
  const auto report = direct_json({"-n", "8", "--ports", "2"});
  const auto& wirings = report["wirings"];
  const auto is_two_way = [](const Json& w) { return w["two_way"].get<bool>(); };
  EXPECT_TRUE(std::ranges::is_partitioned(wirings, is_two_way));
  EXPECT_TRUE(is_two_way(wirings.front()));
  EXPECT_FALSE(is_two_way(wirings.back()));
  const auto only = direct_json({"-n", "8", "--ports", "2", "--two-way"});
  EXPECT_TRUE(std::ranges::all_of(only["wirings"], is_two_way));
  const std::string table = run({"design", "direct", "-n", "8", "--ports", "2"}).out;
  EXPECT_LT(table.find("two-way  "), table.find("one-way  "));
}

TEST(DesignDirectLong, DoesNotDependOnThreads) {
  const std::vector<std::string> asked = {"design", "direct", "-n", "12", "--ports", "3", "--json"};
  auto one = asked, four = asked;
  one.insert(one.end(), {"-j", "1"});
  four.insert(four.end(), {"-j", "4"});
  EXPECT_EQ(run(one).out, run(four).out);
  // Small ones are exact as it is.
  auto thorough = asked;
  thorough.emplace_back("--thorough");
  EXPECT_EQ(run(thorough).out, run(asked).out);
}

TEST(DesignDirectLong, WritesTablesPicturesAndFiles) {
  const Scratch scratch;
  const auto result =
      run_well({"design", "direct", "--nodes", "8", "--degree", "2", "-c", "alltoall", "--front",
                "--csv", scratch / "a.csv", "--svg", scratch / "a.svg", "--html",
                scratch / "a.html", "--write", scratch / "files", "--bandwidth", "200 Gb/s"});
  EXPECT_THAT(result.out, StartsWith("8 nodes of 2 ports"));
  EXPECT_THAT(result.out, HasSubstr("genkautz-joined(2,8)"));
  EXPECT_THAT(read_file(scratch / "a.csv"), StartsWith("wiring,front,"));
  EXPECT_THAT(read_file(scratch / "a.csv"), HasSubstr("\"ring(8)\",false,"));
  EXPECT_THAT(read_file(scratch / "a.svg"), HasSubstr("<circle"));
  const test::SvgPicture picture = test::read_svg(read_file(scratch / "a.svg"));
  EXPECT_THAT(picture.overlaps, IsEmpty());
  EXPECT_THAT(picture.outside, IsEmpty());
  EXPECT_THAT(picture.no_dark, IsEmpty());
  // The best of ordinary cables is named, beside the front of all.
  EXPECT_THAT(read_file(scratch / "a.svg"), HasSubstr(">ring(8)</text>"));
  EXPECT_THAT(read_file(scratch / "a.svg"), HasSubstr(">one-way links</text>"));
  EXPECT_THAT(read_file(scratch / "a.html"), HasSubstr("<td>genkautz-joined(2,8)</td>"));
  EXPECT_THAT(read_file(scratch / "a.html"), Not(HasSubstr("?")));
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(scratch / "files")) {
    const auto bound = run_well({"bound", file.path().string(), "-c", "allgather"});
    EXPECT_THAT(bound.out, HasSubstr("8 GPUs"));
    ++files;
  }
  EXPECT_GT(files, 0U);
}

TEST(DesignDirectLong, RefusesInWords) {
  struct Refusal {
    std::vector<std::string> arguments;
    const char* words;
  };
  const Refusal refusals[] = {
      {{"-n", "4", "--ports", "8"}, "fewer than their 8 ports [K01]"},
      {{"-n", "5", "--ports", "3", "--two-way"}, "15 is odd [K01]"},
      {{"-n", "8", "--ports", "2", "--also", "ring(9)"}, "9 nodes of 2 ports, not 8 of 2 [K01]"},
      {{"-n", "8", "--ports", "2", "--also", "ring("}, "[G04]"},
      {{"-n", "8", "--ports", "2", "-c", "broadcast"}, "not chosen by broadcast [S04]"},
      {{"-n", "8", "--ports", "2", "--bandwidth", "0"}, "no bandwidth [S03]"},
      {{"-n", "8", "--ports", "2", "--svg", "-"}, "[S04]"}};
  for (const Refusal& refusal : refusals) {
    const auto result =
        expect_says(2, joined({"design", "direct"}, refusal.arguments), refusal.words);
    EXPECT_EQ(result.out, "");
  }
}

TEST(DesignSearch, ReportsBothAndWritesTheWiring) {
  const Scratch scratch;
  const std::vector<std::string> asked = {"design", "search", "torus(4,4)", "--moves",         "50",
                                          "--seed", "3",      "-o",         scratch / "w.json"};
  const auto result = run_well(asked);
  EXPECT_THAT(result.out, HasSubstr("after 50 moves"));
  const auto file = read_file(scratch / "w.json");
  EXPECT_EQ(run({"bound", scratch / "w.json"}).code, 0);
  EXPECT_EQ(run(asked).out, result.out);
  EXPECT_EQ(read_file(scratch / "w.json"), file);
  EXPECT_THAT(run({"design", "search", "ring(1)"}).err, HasSubstr("[G05]"));
  EXPECT_THAT(run({"design", "search", "complete(2)"}).err, HasSubstr("[K01]"));
  EXPECT_THAT(run({"design", "search", "ring(8)", "--bandwidth", "x"}).err, HasSubstr("[S03]"));
  EXPECT_THAT(
      run({"design", "search", "torus(4,6)", "--moves", "1000000", "--time-limit", "0.05"}).out,
      HasSubstr("the time was over"));
}

TEST(DesignSearch, ReportsBothAsJson) {
  const std::vector<std::string> asked = {"design", "search", "torus(4,6)", "--moves",
                                          "60",     "--seed", "5",          "--json"};
  const auto result = run_well(asked);
  const auto report = Json::parse(result.out);
  expect_valid(report, "forestcoll-design-search.schema.json");
  EXPECT_EQ(report["start"], "torus(4,6)");
  EXPECT_EQ(report["moves"], 60);
  EXPECT_EQ(report["seed"], 5);
  EXPECT_FALSE(report["stopped"]);
  EXPECT_EQ(report["before"]["relative_time"]["allgather"]["exact"], "23/24");
  EXPECT_LT(report["after"]["mean_distance"]["value"], report["before"]["mean_distance"]["value"]);
  EXPECT_EQ(run(asked).out, result.out);
}

Json formulas_json(const std::vector<std::string>& arguments) {
  return json_of(joined({"design", "formulas", "--json"}, arguments),
                 "forestcoll-design-formulas.schema.json");
}

TEST(DesignFormulas, CountsAndListsTheDifferences) {
  const auto report = formulas_json({"-n", "18", "--ports", "4"});
  std::size_t wirings = 0, differing = 0;
  for (const auto& of : report["constructions"]) {
    wirings += of["wiring_count"].get<std::size_t>();
    for (const char* what : {"step_verdicts", "time_verdicts"}) {
      std::size_t sum = 0;
      for (const auto& count : of[what]) sum += count.get<std::size_t>();
      EXPECT_EQ(sum, of["wiring_count"]) << of;
    }
    if (of["construction"] == "hypercube") {
      EXPECT_EQ(of["time_verdicts"]["equal"], 1);
    }
  }
  EXPECT_EQ(wirings, report["wiring_count"]);
  for (const auto& one : report["differences"]) {
    differing += one["of_time"] == "impossible" ? 1 : 0;
    if (one["wiring"] != "uniring(3,2) x uniring(1,8)") continue;
    EXPECT_EQ(one["of_time"], "impossible");
    EXPECT_EQ(one["relative_time"]["allgather"]["exact"], "7/4");
  }
  EXPECT_GT(differing, 0U);
}

TEST(DesignFormulas, WritesATableAndEveryFigure) {
  const Scratch scratch;
  const auto result =
      run_well({"design", "formulas", "-n", "12", "--degree", "3", "--csv", scratch / "a.csv"});
  EXPECT_THAT(result.out, StartsWith("up to 12 nodes of 3 ports: formulas of "));
  EXPECT_THAT(result.out, HasSubstr("\ncomplete "));
  EXPECT_THAT(read_file(scratch / "a.csv"),
              HasSubstr("\"complete(4)\",complete,4,1,1,equal,3/4,3/4,equal,3/4\n"));
  EXPECT_THAT(run({"design", "formulas", "-n", "4", "--degree", "9"}).err, HasSubstr("[K01]"));
  EXPECT_THAT(run({"design", "formulas", "-n", "9000", "--degree", "3"}).err, HasSubstr("[K01]"));
}

TEST(TopoGen, TakesExpressions) {
  expect_says(0, {"topo", "gen", "L2(diamond^2)", "--bandwidth", "50"}, "1024 GPUs");
  EXPECT_THAT(run({"topo", "gen", "L2(diamond^2"}).err,
              HasSubstr("expected ), found the end [G04]"));
  EXPECT_THAT(run({"topo", "gen", "ring(4)", "--boxes", "3"}).err, HasSubstr("[G02]"));
  EXPECT_THAT(run({"topo", "gen", "--list"}).out, HasSubstr("distance-regular(nodes)"));
}

}  // namespace
}  // namespace forestcoll::testing
