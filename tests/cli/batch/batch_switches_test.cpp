// `forestcoll batch` where switches copy and combine, and for process groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Words = std::vector<std::string>;

// What `topo gen` writes.
std::string generated(Words words) {
  return run_well(joined({"topo", "gen"}, words)).out;
}

std::map<std::string, nlohmann::json> by_input(const BatchDirectories& batch) {
  std::map<std::string, nlohmann::json> found;
  for (const auto& item : batch.items()) found[item["input"]] = item;
  return found;
}

TEST(BatchSwitchesLong, ForestsBranchAsThoseOfSynthDo) {
  const BatchDirectories batch;
  batch.add("h100.json", generated({"dgx-h100"}));
  batch.add("h200.json", generated({"dgx-h200", "--boxes", "2", "--fabric", "odd-even"}));
  batch.add("nvl72.json", generated({"gb200-nvl72"}));
  for (const std::string how : {"", "--in-process"}) {
    Words words = {"--format", "forest"};
    if (!how.empty()) words.insert(words.end(), {how, "--force"});
    ASSERT_EQ(batch.run(words).code, 0);
    const auto items = by_input(batch);
    EXPECT_EQ(items.at("h100.json")["algbw"]["exact"], "400");
    EXPECT_EQ(items.at("h200.json")["algbw"]["exact"], "400");
    EXPECT_EQ(items.at("nvl72.json")["algbw"]["exact"], "64800/73");
    for (const auto& [input, item] : items) {
      EXPECT_EQ(item["optimum_fraction"], 1) << input;
      const std::string made = read_file(batch.out() + "/" + input + "/allreduce.json");
      EXPECT_EQ(made, run({"synth", batch.in() + "/" + input, "--format", "forest", "-q"}).out);
    }
  }
  EXPECT_EQ(batch.run({"--format", "forest"}).code, 0);
  for (const auto& [input, item] : by_input(batch)) EXPECT_EQ(item["status"], "cached") << input;
}

// Of a box without its switch's sums, and of a group of one GPU per box, each by its own entry.
TEST(BatchSwitches, EntriesHaveRolesAndGroupsOfTheirOwn) {
  const BatchDirectories batch;
  batch.add("h100.json", generated({"dgx-h100"}));
  batch.add("boxes.json", generated({"dgx-h100", "--boxes", "2", "--fabric", "odd-even"}));
  std::ofstream(batch / "manifest.json")
      << R"({"format": "forestcoll-batch-manifest", "version": 1, "topologies": [
        {"path": "h100.json", "options": ["--drop", "nvsw:reduce"]},
        {"path": "boxes.json", "options": ["--members", "box[0-1]/gpu0", "--relays"]}]})";
  const Words words = {"--format", "forest", "--manifest", batch / "manifest.json"};
  ASSERT_EQ(batch.run(words).code, 0);
  const auto items = by_input(batch);
  EXPECT_EQ(items.at("h100.json")["algbw"]["exact"], "1800/7");
  // Relays carry what one NIC alone would not: eight of 50 GB/s, shared by both phases.
  const auto group = run(
      {"bound", batch.in() + "/boxes.json", "--members", "box[0-1]/gpu0", "--relays", "--json"});
  EXPECT_EQ(items.at("boxes.json")["algbw"]["exact"],
            nlohmann::json::parse(group.out)["allreduce_in_network"]["exact"]);
  EXPECT_EQ(run({"verify", batch.out() + "/boxes.json/allreduce.json", "--topology",
                 batch.in() + "/boxes.json", "--members", "box[0-1]/gpu0", "--relays"})
                .code,
            0);
}

}  // namespace
}  // namespace forestcoll::testing
