// `forestcoll compare --groups`: a collective in all process groups at once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Words = std::vector<std::string>;

std::map<std::string, nlohmann::json> rows_of(const nlohmann::json& report) {
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : report["algorithms"]) rows[row["algorithm"]] = row;
  return rows;
}

// What other commands say of the same groups.
TEST(CompareGroupsLong, TimesAreThoseOfSimulateAndSynth) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2");
  const auto report = json_of({"compare", fabric, "--groups", "MOD 8", "--algorithms",
                               "forestcoll,nccl-ring", "--sizes", "64M", "--json"},
                              "forestcoll-compare-groups.schema.json");
  EXPECT_EQ(report["optimum"]["exact"], "25");
  EXPECT_EQ(report["groups"].size(), 8);
  run_well({"synth", fabric, "--at-once", "allreduce MOD8 64M", "-o", scratch / "rails"});
  const auto times = json_of({"simulate", scratch / "rails/job.json", fabric, "--sizes", "64M",
                              "--json"})["steps"][0]["times"][0];
  const auto rows = rows_of(report);
  EXPECT_EQ(rows.at("forestcoll")["times"][0]["simulated_seconds"], times["simulated_seconds"]);
  EXPECT_EQ(rows.at("nccl-ring")["times"][0]["simulated_seconds"],
            times["runtime_simulated_seconds"]);
}

// Rows of a torus share no links; all four have what one has.
TEST(CompareGroupsLong, AllAlgorithmsAreSimulatedAtOnceAndAlone) {
  const auto report = json_of({"compare", topology("torus-4x4"), "-c", "allreduce", "--groups",
                               "DIV 4", "--sizes", "1M", "--gpu", "ideal", "--json"},
                              "forestcoll-compare-groups.schema.json");
  const auto rows = rows_of(report);
  EXPECT_EQ(report["optimum"]["exact"], "4/3");
  ASSERT_TRUE(rows.contains("forestcoll (alone)"));
  ASSERT_TRUE(rows.contains("ring"));
  EXPECT_EQ(rows.at("nvls")["error"]["code"], "B03");
  EXPECT_FALSE(rows.contains("nccl-pick"));
  for (const auto& [name, row] : rows) {
    if (row.contains("error")) continue;
    const auto& time = row["times"][0];
    EXPECT_NEAR(time["simulated_seconds"].get<double>(),
                time["alone_simulated_seconds"].get<double>(), 1e-9)
        << name;
    EXPECT_LE(time["simulated_algbw"].get<double>(), 4. / 3 * 1.001) << name;
  }
}

// Both groups cross from rack to rack over one link.
TEST(CompareGroupsLong, GroupsThatShareALinkTakeTwiceAsLong) {
  const Scratch scratch;
  const auto rows =
      rows_of(json_of({"compare", scratch.write("racks.json", racks_topology()), "--groups",
                       "MOD 2", "--algorithms", "forestcoll,forestcoll (alone),ring", "--sizes",
                       "1G", "--gpu", "ideal", "--json"},
                      "forestcoll-compare-groups.schema.json"));
  ASSERT_EQ(rows.size(), 3);
  for (const auto& [name, row] : rows) {
    const auto& time = row["times"][0];
    EXPECT_NEAR(
        time["simulated_seconds"].get<double>() / time["alone_simulated_seconds"].get<double>(), 2,
        0.02)
        << name;
  }
}

// Four pairs of eight linked GPUs: of seven links of a GPU one leads to its peer, and three GPUs
// pass on.
TEST(CompareGroupsLong, RelaysAreOfOnePlan) {
  const Scratch scratch;
  const std::string fabric = scratch / "mi300x.json", pairs = "[[0,4],[1,5],[2,6],[3,7]]";
  run_well({"topo", "gen", "mi300x", "-o", fabric});
  const Words asked = {"compare",
                       fabric,
                       "--groups",
                       pairs,
                       "--relays",
                       "--algorithms",
                       "forestcoll,forestcoll (one plan),nccl-ring",
                       "--sizes",
                       "1G"};
  const auto report = json_of(joined(asked, {"--json"}), "forestcoll-compare-groups.schema.json");
  EXPECT_EQ(report["optimum"]["exact"], "256");
  EXPECT_TRUE(report["relays"]);
  const auto rows = rows_of(report);
  const auto& plan = rows.at("forestcoll (one plan)")["times"][0];
  EXPECT_FALSE(plan.contains("alone_simulated_seconds"));
  const double rings = rows.at("nccl-ring")["times"][0]["simulated_algbw"];
  EXPECT_GT(plan["simulated_algbw"].get<double>(), 3 * rings);
  EXPECT_LT(rows.at("forestcoll")["times"][0]["simulated_algbw"].get<double>(), 64);
  const std::string file = scratch / "plan.json";
  run_well({"synth", fabric, "--groups", pairs, "--relays", "--format", "mscclpp", "-o", file});
  const auto simulated = json_of({"simulate", file, fabric, "--sizes", "1G", "--json"});
  EXPECT_EQ(plan["simulated_seconds"], simulated["times"][0]["simulated_seconds"]);
  EXPECT_THAT(run_well(joined(asked, {"--csv"})).out,
              HasSubstr(",forestcoll (one plan),,256,256,"));
  // Some row of the second table is missing, none of the first.
  const std::string text = run_well(asked).out;
  EXPECT_THAT(text, HasSubstr("where GPUs pass on what is for others\n"));
  EXPECT_EQ(text.find("(one plan)"), text.rfind("(one plan)"));
}

TEST(CompareGroupsLong, OnePlanIsOfSomeCollectivesAlone) {
  const auto report =
      json_of({"compare", topology("dgx-a100-x1"), "-c", "broadcast", "--root", "0", "--groups",
               "DIV 4", "--algorithms", "forestcoll (one plan)", "--sizes", "1M", "--json"},
              "forestcoll-compare-groups.schema.json");
  EXPECT_EQ(report["algorithms"][0]["error"]["code"], "T06");
}

TEST(CompareGroupsLong, TablesOfBoth) {
  const auto result = run_well({"compare", topology("dgx-a100-x1"), "-c", "broadcast", "--root",
                                "1", "--mesh", "tp=4,dp=2", "--groups", "tp", "--algorithms",
                                "forestcoll,bfb", "--sizes", "1M,16M"});
  EXPECT_THAT(result.out, HasSubstr("broadcast in 2 groups at once; simulated (model, not "
                                    "measurement); GPU parameters: a100"));
  EXPECT_THAT(result.out, HasSubstr("algbw GB/s of each group, all at once\nalgorithm "));
  EXPECT_THAT(result.out,
              HasSubstr("algbw GB/s of the slowest group, the others idle\nalgorithm "));
}

// Two algorithms, one of which a torus does not have.
TEST(CompareGroups, AllFormsHaveTheSameFigures) {
  const Scratch scratch;
  const Words asked = {"compare",      topology("torus-4x4"),
                       "--groups",     "DIV 4",
                       "--algorithms", "ring,nvls",
                       "--sizes",      "1M",
                       "--gpu",        "ideal"};
  const auto report = json_of(joined(asked, {"--json"}), "forestcoll-compare-groups.schema.json");
  const auto& time = report["algorithms"][0]["times"][0];
  const std::string csv = run_well(joined(asked, {"--csv"})).out;
  EXPECT_THAT(csv, HasSubstr("\ntorus 4x4,allreduce,4,ring,,4/3,1.33333333,1048576,"));
  EXPECT_THAT(csv, HasSubstr(fmt::format(",{:.9g},", time["simulated_seconds"].get<double>())));
  EXPECT_THAT(csv, HasSubstr(",nvls,"));
  EXPECT_THAT(csv, HasSubstr("[B03]\",4/3,1.33333333,,,,,\n"));
  const std::string file = scratch / "table.txt";
  const std::string text = run_well(joined(asked, {"--markdown", "--table", file})).out;
  const std::string rate = fmt::format("{:.3g}", time["simulated_algbw"].get<double>());
  EXPECT_THAT(text, StartsWith("### torus 4x4: allreduce in 4 groups at once\n"));
  EXPECT_THAT(text, HasSubstr("| ring | " + rate + " |\n"));
  EXPECT_THAT(text, HasSubstr("\n- nvls: "));
  EXPECT_EQ(read_file(file), run_well(asked).out);
  EXPECT_THAT(run_well(joined(asked, {"--latex"})).out, HasSubstr("  ring & " + rate + " \\\\\n"));
}

TEST(CompareGroups, APictureAndAPage) {
  const Scratch scratch;
  const std::string svg = scratch / "chart.svg", html = scratch / "page.html";
  const Words asked = {"compare", topology("torus-4x4"), "--groups", "DIV 4"};
  run_well(
      joined(asked, {"--algorithms", "ring", "--sizes", "1M,4M", "--svg", svg, "--html", html}));
  EXPECT_THAT(read_file(svg),
              AllOf(HasSubstr("<svg"), HasSubstr("joint optimum"), HasSubstr("ring")));
  EXPECT_THAT(read_file(html), AllOf(HasSubstr("<td>ring</td>"), HasSubstr("<svg")));
  EXPECT_THAT(run_well(joined(asked, {"--algorithms", "ring", "--sizes", "1M", "--svg", "-"})).out,
              StartsWith("<svg"));
  expect_says(2, joined(asked, {"--algorithms", "nvls", "--sizes", "1M", "--svg", svg}), "[N09]");
}

TEST(CompareGroups, WordsThatDoNotGoTogether) {
  const std::string fabric = topology("torus-4x4");
  for (const auto& [words, says] : std::vector<std::pair<Words, std::string>>{
           {{"--groups", "all", "--trees"}, "--trees does not go with --groups [S04]"},
           {{fabric, "--groups", "all"}, "more than one topology does not go with --groups [S04]"},
           {{"--groups", "all", "-c", "alltoallv"}, "alltoallv"},
           {{"--groups", "all", "--algorithms", "forestcoll (rate)"}, "[B09]"},
           {{"--groups", "all", "--members", "0-3"}, "--members is one group"},
           {{"--groups", "all", "--algorithms", "nccl-pick"}, "there is no \"nccl-pick\""},
           {{"--mesh", "tp=16"}, "--mesh and --mesh-order are of groups [S04]"},
           {{"--groups", "MOD 3", "--sizes", "1X"}, "--sizes: "},
           {{"-c", "broadcast", "--groups", "DIV 4"}, "broadcast needs a root [O07]"},
           {{"-c", "allgather", "--groups", "[[0,5]]"}, "[O08]"}}) {
    expect_says(2, joined({"compare", fabric}, words), says);
  }
}

}  // namespace
}  // namespace forestcoll::testing
