// The fuzzers' corpora as ordinary tests: seeds, and whatever once broke something.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/targets.hpp"
#include "support/files.hpp"

namespace {

std::vector<std::string> texts_of(const std::string& corpus) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(
           forestcoll::test::source_path("tests/fuzz/corpus/" + corpus))) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    texts.push_back(forestcoll::test::read_file(path));
    EXPECT_FALSE(texts.back().empty()) << path;
  }
  return texts;
}

// Every seed, its beginnings, and what is left when a part is cut out.
void replay(const std::string& corpus, void (*target)(std::string_view)) {
  const auto texts = texts_of(corpus);
  EXPECT_GE(texts.size(), 3U);
  for (const std::string& text : texts) {
    target(text);
    const std::size_t stride = std::max<std::size_t>(1, text.size() / 20);
    for (std::size_t at = 0; at < text.size(); at += stride) {
      target(text.substr(0, at));
      target(text.substr(0, at) + text.substr(std::min(text.size(), at + stride)));
    }
  }
}

TEST(Fuzz, ScheduleXml) {
  replay("xml", fuzz::schedule_xml);
}
TEST(Fuzz, ExecutionPlan) {
  replay("plan", fuzz::execution_plan);
}
TEST(Fuzz, ForestJson) {
  replay("forest", fuzz::forest_json);
}
TEST(Fuzz, NcclFile) {
  replay("nccl", fuzz::nccl_file);
}
TEST(Fuzz, TopologyJson) {
  replay("topology", fuzz::topology_json);
}
TEST(Fuzz, Health) {
  replay("health", fuzz::health);
}
TEST(Fuzz, Machine) {
  replay("machine", fuzz::machine);
}
TEST(Fuzz, Job) {
  replay("job", fuzz::job);
}
TEST(Fuzz, FileOfAnotherTool) {
  replay("import", fuzz::file_of_another_tool);
}

}  // namespace
