// `forestcoll compare` where switches copy and combine: ours beside NVLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/compare.hpp"
#include "compare/rows/program_rows.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::testing {
namespace {

nlohmann::json compared(const std::string& file, const std::vector<std::string>& more) {
  return json_of(joined({"compare", file, "--json"}, more), "forestcoll-compare.schema.json");
}

// Trees that branch lose to those over GPUs at one size, which is said.
TEST(CompareSwitchesLong, TreesOverGpusAreTakenWhereTheyAreFaster) {
  const Scratch scratch;
  const std::string file = scratch / "fabric.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "--boxes", "4", "--fabric", "odd-even", "--sharp",
                 "yes", "-o", file})
                .code,
            0);
  const auto report =
      compared(file, {"--trees", "--algorithms", "forestcoll", "--sizes", "1K,64M,1G"});
  EXPECT_THAT(row(report, "forestcoll")["note"].get<std::string>(),
              HasSubstr("times over GPUs alone, which are less, at 1 KiB, 64 MiB"));
}

// MSCCL++'s rule takes programs up to one size and plans from another; its row has both.
TEST(CompareSwitchesLong, TheSelectorOfMscclppTakesProgramsAndPlans) {
  const Scratch scratch;
  const std::string file = scratch / "fabric.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto report = compared(file, {"--algorithms", "mscclpp-pick", "--sizes", "16K,32K,64K,1M"});
  std::vector<std::string> names;
  const auto choices = row(report, "mscclpp-pick")["choices"];
  for (const auto& choice : choices) names.push_back(choice["name"]);
  EXPECT_THAT(names,
              ::testing::ElementsAre("all-pairs-once",
                                     "forestcoll, packets copied in switches, a plan of MSCCL++",
                                     "all-pairs", "nvls, a plan of MSCCL++"));
}

// As programs: NVLS is a plan of MSCCL++, and so is ours where that is fastest.
TEST(CompareSwitchesLong, PlansAreAmongTheProgramsOfABox) {
  const Scratch scratch;
  const std::string file = scratch / "fabric.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto report = compared(file, {"--sizes", "1K,4M,256M"});
  const auto ours = row(report, "forestcoll")["program_times"];
  std::size_t others = 0;
  for (const auto& each : report["rows"]) {
    const auto times = each.value("program_times", nlohmann::json::array());
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_GE(times[i]["simulated_seconds"].get<double>(),
                ours[i]["simulated_seconds"].get<double>())
          << each["algorithm"] << i;
      ++others;
    }
  }
  EXPECT_GT(others, 40U);
  ASSERT_EQ(row(report, "nvls")["program_times"].size(), 3U);
  const auto choices = row(report, "forestcoll")["choices"];
  EXPECT_EQ(choices[0]["name"], "forestcoll, packets copied in switches, a plan of MSCCL++");
  EXPECT_EQ(choices[2]["name"], "forestcoll, sums in switches, a plan of MSCCL++");
  for (const auto& choice : choices) {
    EXPECT_GE(choice["simulated_seconds"].get<double>(), choice["least_seconds"].get<double>());
  }
}

TEST(CompareSwitchesLong, WhyNvlsBetweenBoxesHasNoTimeIsSaid) {
  const Scratch scratch;
  const std::string file = scratch / "fabric.json";
  for (const std::string boxes : {"1", "2"}) {
    ASSERT_EQ(run({"topo", "gen", "dgx-h100", "--boxes", boxes, "-o", file}).code, 0);
    const auto nvls = row(compared(file, {"--algorithms", "nvls", "--sizes", "1M"}), "nvls");
    const bool is_said = nvls["note"].get<std::string>().find(
                             "no executor runs it between boxes") != std::string::npos;
    EXPECT_EQ(is_said, boxes == "2");
    EXPECT_EQ(nvls.contains("program_times"), boxes == "1");
  }
}

// Of plans those that are asked for.
TEST(CompareSwitchesLong, PlansOfOthersAreNotMadeInVain) {
  const auto document = generate("dgx-h100", {});
  ASSERT_TRUE(document);
  auto made = make_fabric(parse_topology(to_topology_json(*document), "box")->topology);
  ASSERT_TRUE(made);
  cli::Fabric box;
  static_cast<Fabric&>(box) = *std::move(made);
  cli::RowsRequest request;
  request.sizes = {1 << 20};
  const auto plans = [&](const std::vector<std::string>& algorithms) {
    request.algorithms = algorithms;
    cli::ProgressBar bar("timing", cli::Console{.quiet = true});
    cli::LiveRows live(request, bar);
    const auto times = cli::time_programs(box, request, bar, live);
    std::vector<std::string> names;
    if (!times) return names;
    for (const AlgorithmTimes& each : *times) {
      const auto& choice = each.by_size.front();
      if (choice && choice->name.find("MSCCL++") != std::string::npos) {
        names.push_back(each.algorithm);
      }
    }
    return names;
  };
  EXPECT_THAT(plans({"nvls"}), ElementsAre("nvls"));
  EXPECT_THAT(plans({"double-tree"}), ElementsAre());
  EXPECT_THAT(plans({"forestcoll"}), ElementsAre(kAsWritten));
  EXPECT_THAT(plans({"forestcoll", "nvls"}), ElementsAre("nvls", kAsWritten));
}

}  // namespace
}  // namespace forestcoll::testing
