// `forestcoll design cluster` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "cli/stub_path.hpp"
#include "support/svg_picture.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;

const char* const kCosts = R"({"format": "forestcoll-costs", "version": 1, "currency": "units",
  "note": "Made up.", "switches": [
    {"name": "small", "ports": 16, "bandwidth": "400 Gb/s", "price": 10},
    {"name": "large", "ports": 64, "bandwidth": 50, "price": 60.5}],
  "cables": {"box": {"price": 1}, "row": {"price": 2, "optics": 3}, "hall": {"price": 4}}})";

TEST(DesignClusterLong, EveryFileIsWhatTheReportSays) {
  const Scratch scratch;
  const auto costs = scratch.write("costs.json", kCosts);
  const std::vector<std::string> asked = {
      "design", "cluster", "--gpus", "64", "--costs", costs, "--json", "--kept", scratch / "kept"};
  auto all = asked;
  all.insert(all.end(), {"--csv", scratch / "a.csv", "--svg", scratch / "a.svg", "--html",
                         scratch / "a.html", "--write", scratch / "files"});
  const auto result = run_well(all);
  const auto report = Json::parse(result.out);
  expect_valid(report, "forestcoll-design-cluster.schema.json");
  std::vector<Json> front;
  for (const auto& offer : report["offers"]) {
    if (offer["front"]) front.push_back(offer);
  }
  ASSERT_FALSE(front.empty());
  // The single switch: 64 cables of 1, and 60.5.
  EXPECT_TRUE(std::ranges::any_of(report["offers"], [](const Json& offer) {
    return offer["levels"] == 1 && offer["layout"] == "fat-tree" &&
           offer["cost"]["exact"] == "249/2" && offer["after_failure"]["exact"] == "0";
  }));
  // Two kinds of switches: leaves of the one, and the other above.
  EXPECT_TRUE(std::ranges::any_of(report["offers"], [](const Json& offer) {
    return offer["leaf_switch"] == "small" && offer["upper_switch"] == "large";
  }));
  for (const Json& offer : report["offers"]) {
    EXPECT_EQ(offer["upper_switch"].is_null(), offer["switch_counts"]["above"] == 0) << offer;
  }
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(scratch / "files")) {
    files.push_back(file.path().string());
  }
  std::ranges::sort(files);
  ASSERT_EQ(files.size(), front.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto bound = json_of({"bound", files[i], "--json", "-c", "allgather"});
    EXPECT_EQ(bound["algbw"]["allgather"], front[i]["algbw"]["allgather"]);
    const std::string failed = front[i]["failed"];
    const auto less = run({"bound", files[i], "--json", "-c", "allgather", "--drop", failed});
    if (front[i]["after_failure"]["exact"] == "0") {
      EXPECT_EQ(less.code, 2);
    } else {
      EXPECT_EQ(Json::parse(less.out)["algbw"]["allgather"], front[i]["after_failure"]);
    }
  }
  EXPECT_THAT(read_file(scratch / "a.csv"), StartsWith("fabric,leaf_switch,upper_switch,"));
  // The cheapest has the highest rate: its point is the whole front of these two axes.
  EXPECT_THAT(read_file(scratch / "a.svg"), HasSubstr("<title>fat-tree, 8 boxes per switch"));
  const test::SvgPicture picture = test::read_svg(read_file(scratch / "a.svg"));
  EXPECT_THAT(picture.overlaps, ::testing::IsEmpty());
  EXPECT_THAT(picture.outside, ::testing::IsEmpty());
  EXPECT_THAT(read_file(scratch / "a.svg"), Not(HasSubstr("e+0")));
  EXPECT_THAT(read_file(scratch / "a.html"), HasSubstr("<td>rail-only, "));
  EXPECT_THAT(read_file(scratch / "a.html"), Not(HasSubstr("?")));
  // Again, from what was kept.
  EXPECT_EQ(run(asked).out, result.out);
  auto table = asked;
  table.erase(table.begin() + 6);
  EXPECT_THAT(run(table).out, Not(HasSubstr(" 0 kept")));
}

// Made once, whoever asks.
const Json& report_of(const std::string& gpus) {
  static std::map<std::string, Json> reports;
  Json& report = reports[gpus];
  if (report.is_null()) {
    const Scratch scratch;
    const auto result = json_of({"design", "cluster", "--gpus", gpus, "--json", "--costs",
                                 scratch.write("costs.json", kCosts)});
    report = result;
  }
  return report;
}

// By the prices of the file, from the numbers of parts in the report.
TEST(DesignClusterLong, EveryOfferCostsWhatItsPartsDo) {
  const std::map<std::string, double> prices = {{"small", 10}, {"large", 60.5}};
  const Json& report = report_of("128");
  std::set<std::string> pairs;
  double hall_cables = 0;
  for (const Json& offer : report["offers"]) {
    const std::string leaf = offer["leaf_switch"];
    const std::string above =
        offer["upper_switch"].is_null() ? leaf : offer["upper_switch"].get<std::string>();
    pairs.insert(leaf + "/" + above);
    const Json &of = offer["switch_counts"], &cables = offer["cable_counts"];
    const double cost = of["leaves"].get<double>() * prices.at(leaf) +
                        of["above"].get<double>() * prices.at(above) + cables["box"].get<double>() +
                        cables["row"].get<double>() * (2 + 3) + cables["hall"].get<double>() * 4;
    EXPECT_EQ(offer["cost"]["value"], cost) << offer;
    hall_cables += cables["hall"].get<double>();
  }
  // Never a switch of fewer ports above one of more.
  EXPECT_EQ(pairs, (std::set<std::string>{"small/small", "small/large", "large/large"}));
  EXPECT_GT(hall_cables, 0);
}

// On the front is what no other beats by cost and all rates, and nothing else.
TEST(DesignClusterLong, TheFrontIsWhatNothingBeats) {
  std::size_t worth_its_failures = 0;
  for (const std::string gpus : {"64", "128"}) {
    const Json& report = report_of(gpus);
    std::vector<std::vector<double>> all;
    std::vector<bool> front;
    for (const Json& offer : report["offers"]) {
      all.push_back({-offer["cost"]["value"].get<double>(), offer["algbw"]["allgather"]["value"],
                     offer["algbw"]["allreduce"]["value"],
                     offer["algbw"]["alltoall"]["at_least"]["value"],
                     offer["after_failure"]["value"]});
      front.push_back(offer["front"]);
    }
    const auto is_beaten = [&](const std::vector<double>& mine, std::size_t objectives) {
      return std::ranges::any_of(all, [&](const std::vector<double>& other) {
        bool as_good = true, better = false;
        for (std::size_t i = 0; i < objectives; ++i) {
          as_good = as_good && other[i] >= mine[i];
          better = better || other[i] > mine[i];
        }
        return as_good && better;
      });
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(front[i], !is_beaten(all[i], 5)) << gpus << " " << i;
      worth_its_failures += front[i] && is_beaten(all[i], 4) ? 1 : 0;
    }
  }
  EXPECT_GT(worth_its_failures, 0U);
}

TEST(DesignClusterLong, RefusesInWords) {
  const Scratch scratch;
  const auto refused = [&](const std::string& costs, const std::string& gpus,
                           const std::string& words, const std::string& box = "dgx-h100") {
    const auto file = scratch.write("costs.json", costs);
    const auto result =
        expect_says(2, {"design", "cluster", "--gpus", gpus, "--costs", file, "--box", box}, words);
    EXPECT_EQ(result.out, "");
  };
  const auto without = [](const char* key) {
    auto costs = Json::parse(kCosts);
    costs.erase(key);
    return costs.dump();
  };
  refused("{", "64", "not JSON [K02]");
  refused("[]", "64", "expected an object of the format forestcoll-costs, version 1 [K02]");
  refused(without("switches"), "64", "/switches: there is no switch to buy [K03]");
  refused(without("cables"), "64", "/cables/row: there is no price for cables");
  refused(without("note"), "64", "/note: expected a text [K02]");
  auto bad = Json::parse(kCosts);
  bad["switches"][0] = {{"name", 1}, {"ports", 0}, {"bandwidth", "fast"}, {"price", -1}};
  refused(bad.dump(), "64", "/switches/0/name: expected a text [K02]");
  refused(bad.dump(), "64", "/switches/0/ports: expected a number from 2");
  refused(bad.dump(), "64", "/switches/0/bandwidth: expected a bandwidth");
  refused(bad.dump(), "64", "/switches/0/price: expected a price");
  refused(kCosts, "65", "65 GPUs are not two or more whole boxes of 8 [K04]");
  refused(kCosts, "8", "[K04]");
  auto small = Json::parse(kCosts);
  small["switches"].erase(1);
  refused(small.dump(), "65536", "no fabric of at most three levels joins 8192 boxes");
  refused(kCosts, "64", "no switch of the costs has ports of 25 GB/s", "dgx-a100");
  refused(kCosts, "64", "no box is called \"dgx-9\" [G01]", "dgx-9");
}

TEST(DesignClusterLong, KeptFiguresAreChecked) {
  const Scratch scratch;
  const auto costs = scratch.write("costs.json", kCosts);
  const std::vector<std::string> asked = {"design",  "cluster", "--gpus", "64",
                                          "--costs", costs,     "--kept", scratch / "kept"};
  ASSERT_EQ(run(asked).code, 0);
  for (const auto& file : std::filesystem::directory_iterator(scratch / "kept")) {
    scratch.write("kept/" + file.path().filename().string(), "{}");
  }
  EXPECT_THAT(run(asked).err, HasSubstr("no kept figures of this cluster [K05]"));
}

// What another program kept is computed again; what was kept of another fabric is refused.
TEST(DesignClusterLong, KeptFiguresAreThoseOfThisProgramAndFabric) {
  const Scratch scratch;
  const auto costs = scratch.write("costs.json", kCosts);
  const std::vector<std::string> asked = {
      "design", "cluster", "--gpus", "64", "--json", "--costs", costs, "--kept", scratch / "kept"};
  const auto first = run_well(asked);
  const auto file = std::filesystem::directory_iterator(scratch / "kept")->path();
  auto kept = Json::parse(read_file(file.string()));
  const auto write = [&] { scratch.write("kept/" + file.filename().string(), kept.dump()); };
  kept["allgather"] = "1";
  write();
  EXPECT_NE(run(asked).out, first.out);  // they are believed
  kept["program"] = "another";
  write();
  EXPECT_EQ(run(asked).out, first.out);
  EXPECT_EQ(Json::parse(read_file(file.string()))["program"].get<std::string>().find("another"),
            std::string::npos);
  kept = Json::parse(read_file(file.string()));
  kept["cluster"] = "another";
  write();
  EXPECT_THAT(run(asked).err, HasSubstr("[K05]"));
}

// docs/design.md is made of these.
TEST(DesignTableLong, MakesTablesOfReports) {
  const Scratch scratch;
  const auto table = [&](const std::string& kind, std::vector<std::string> asked) {
    asked.insert(asked.begin(), "design");
    asked.emplace_back("--json");
    const auto report = scratch.write(kind + ".json", run(asked).out);
    return run_well({tool("scripts/design-table"), kind, report}, {.program = "/usr/bin/python3"})
        .out;
  };
  EXPECT_THAT(table("front", {"direct", "-n", "16", "--ports", "4"}),
              HasSubstr("\n| `debruijn(4,2)` | 2 | 0.9375 | 1.2500 | 1.8000 |"));
  EXPECT_THAT(table("formulas", {"formulas", "-n", "12", "--ports", "3"}),
              HasSubstr("\n| `complete` | 1 | 1 | 0 | 0 | 1 | 0 | 0 | 0 |"));
  const auto costs = scratch.write("costs.json", kCosts);
  const auto clusters = table("cluster", {"cluster", "--gpus", "64", "--costs", costs});
  EXPECT_THAT(clusters, StartsWith("64 GPUs in boxes of dgx-h100, "));
  EXPECT_THAT(clusters, HasSubstr("\n| rail-only, 8 boxes per switch | small | 144 |"));
}

}  // namespace
}  // namespace forestcoll::testing
