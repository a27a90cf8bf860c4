// `forestcoll bound --place` on fabrics with more GPUs than the mesh has ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

nlohmann::json placed_report(const std::string& fabric, const Words& words) {
  return json_of(joined({"bound", fabric, "--place", "--json"}, words),
                 "forestcoll-job.schema.json");
}

// Links both ways between GPUs, as a ring and some more, of 1 to 4 GB/s; `even`: a ring of equal
// links, which has symmetries.
nlohmann::json random_gpus(std::mt19937_64& random, std::size_t gpus, bool even) {
  nlohmann::json topology = {{"format", "forestcoll-topology"}, {"version", 1}};
  const auto name = [](std::size_t r) { return fmt::format("gpu{}", r); };
  for (std::size_t r = 0; r < gpus; ++r) {
    topology["nodes"].push_back({{"id", name(r)}, {"type", "compute"}});
  }
  for (std::size_t a = 0; a < gpus; ++a) {
    for (std::size_t b = a + 1; b < gpus; ++b) {
      const bool in_ring = b == a + 1 || (a == 0 && b == gpus - 1);
      if (!in_ring && (even || random() % 2 == 0)) continue;
      topology["links"].push_back(
          {{"src", name(a)}, {"dst", name(b)}, {"bandwidth", even ? 2 : 1 + random() % 4}});
    }
  }
  return topology;
}

// The least time of the mesh a=2,b=N/2 in both orders over these GPUs, which alone are there.
double least_on(const std::string& fabric, const Words& gpus) {
  double least = std::numeric_limits<double>::infinity();
  const std::string list = fmt::format("{}", fmt::join(gpus, ","));
  const std::string other = std::to_string(gpus.size() / 2);
  for (const std::string& mesh : {"a=2,b=" + other, "b=" + other + ",a=2"}) {
    Words words{"bound", fabric, "--mesh", mesh, "--at-once", "allgather a 3G", "--json"};
    if (other != "1") words = joined(words, {"--at-once", "allreduce b 1G"});
    const auto ran = run(joined(words, {"--ranks", list}));
    if (ran.code != 0) continue;  // they do not reach one another
    least = std::min(least, nlohmann::json::parse(ran.out)["seconds"].get<double>());
  }
  return least;
}

// By definition: all sets of GPUs, each as a fabric of its own, with all orders.
TEST(PlaceLong, IsTheBestOfAllSetsAndOrders) {
  const Scratch scratch;
  int possible = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t gpus = 4 + seed % 4, count = seed % 3 == 0 ? 2 : 4;
    if (count == gpus) continue;
    const auto fabric = scratch.write("f.json", random_gpus(random, gpus, seed % 5 == 4).dump());
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t set = 0; set < std::size_t{1} << gpus; ++set) {
      Words taken;
      for (std::size_t r = 0; r < gpus; ++r) {
        if ((set >> r & 1) != 0) taken.push_back(fmt::format("gpu{}", r));
      }
      if (taken.size() == count) least = std::min(least, least_on(fabric, taken));
    }
    Words words{"--mesh", fmt::format("a=2,b={}", count / 2), "--at-once", "allgather a 3G"};
    if (count == 4) words = joined(words, {"--at-once", "allreduce b 1G"});
    if (!std::isfinite(least)) {
      expect_says(2, joined({"bound", fabric, "--place"}, words), "[O08]");
      continue;
    }
    ++possible;
    const auto report = placed_report(fabric, words);
    EXPECT_TRUE(report["gpu_choices"]["all"]);
    EXPECT_NEAR(report["seconds"], least, 1e-9 * least) << seed;
    // The GPUs that it names give this time as the fabric's ranks.
    std::string ranks;
    for (const auto& id : report["ranks"]) {
      ranks += (ranks.empty() ? "" : ",") + id.get<std::string>();
    }
    const auto again = run(joined({"bound", fabric, "--ranks", ranks, "--json"}, words));
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_NEAR(nlohmann::json::parse(again.out)["seconds"], least, 1e-9 * least);
  }
  EXPECT_GE(possible, 3);
}

const Words kHeavyTp{"--at-once", "allgather tp 1G", "--at-once", "allreduce dp 1G"};

TEST(Place, TakesOneBoxWhereTheJobFits) {
  const auto report =
      placed_report(topology("dgx-a100-x2"), joined({"--mesh", "tp=4,dp=2"}, kHeavyTp));
  EXPECT_EQ(report["placements"][0]["members"], "0-7");
  EXPECT_EQ(report["ranks"].size(), 8);
  EXPECT_EQ(report["ranks"][0], "box0/gpu0");
  EXPECT_FALSE(report["gpu_choices"]["all"]);
  EXPECT_GT(report["gpu_choices"]["count"], 3);
}

TEST(Place, LeavesOutAWeakBox) {
  const Words job = joined({"--mesh", "tp=8"}, {"--at-once", "allgather tp 1G"});
  const std::string fabric = topology("dgx-a100-x2");
  const auto slow = placed_report(fabric, joined(job, {"--derate", "box0/gpu2~box0/nvsw=1/2"}));
  EXPECT_EQ(slow["placements"][0]["members"], "8-15");
  const auto across = joined({"--mesh", "tp=8,dp=2"}, kHeavyTp);
  const auto dead = placed_report(topology("dgx-a100-x4"), joined(across, {"--drop", "box1/nic3"}));
  EXPECT_EQ(dead["ranks"].size(), 16);
  for (const auto& id : dead["ranks"]) {
    EXPECT_FALSE(id.get<std::string>().starts_with("box1/")) << id;
  }
}

// Equal pairs of a full mesh are one choice, and a job file's own mesh may be smaller.
TEST(Place, ComparesWhatSymmetriesExchangeOnce) {
  const Scratch scratch;
  const auto job = scratch.write("job.json", R"({"format": "forestcoll-job", "version": 1,
    "mesh": "tp=2", "steps": [{"operations": [{"collective": "allgather", "groups": "tp"}]}]})");
  const std::string fabric = scratch / "full.json";
  run_well({"topo", "gen", "mi300x", "-o", fabric});
  const auto report = placed_report(fabric, {"--job", job});
  EXPECT_EQ(report["gpu_choices"], nlohmann::json({{"count", 28}, {"all", true}}));
  EXPECT_LT(report["placements"].size(), 5);
  const auto text = run({"bound", fabric, "--job", job, "--place"});
  EXPECT_THAT(text.out, ::testing::HasSubstr("2 of 8 GPUs: all 28 choices"));
}

TEST(Place, RefusesAMeshThatIsTooLarge) {
  const std::string fabric = topology("dgx-a100-x2");
  const auto ran = expect_says(
      2, {"bound", fabric, "--mesh", "tp=8,dp=4", "--at-once", "allgather tp", "--place"},
      "has 32 points, and the fabric 16 ranks [O06]");
  EXPECT_EQ(ran.out, "");
  expect_says(2, {"bound", fabric, "--mesh", "tp=8", "--at-once", "allgather tp"}, "[O06]");
}

// dp within the boxes: neighbours in rank order are 8 ranks of the mesh apart.
TEST(BoundPlace, WritesWhereTheRanksAre) {
  const Scratch scratch;
  const std::vector<std::string> words = {
      "bound",     topology("dgx-h100-x4-rail"), "--mesh",    "tp=8,dp=4",
      "--at-once", "allgather tp 512M",          "--at-once", "allreduce dp 1G"};
  const auto report = json_of(joined(words, {"--place", "--hosts", scratch / "hosts", "--json"}));
  EXPECT_EQ(report["ranks"][1], "box0/gpu4");
  const std::string hosts = read_file(scratch / "hosts");
  EXPECT_THAT(hosts, HasSubstr("\nrank 0=box0 slot=0\nrank 1=box0 slot=1\nrank 2=box1 slot=0\n"));
  EXPECT_THAT(hosts, HasSubstr("\n#   box0 0,4,1,5,2,6,3,7\n"));
  expect_says(2, joined(words, {"--hosts", scratch / "hosts"}),
              "--hosts is of the best placement [S04]\n  add --place");
}

}  // namespace
}  // namespace forestcoll::testing
