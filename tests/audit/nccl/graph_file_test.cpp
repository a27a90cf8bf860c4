// Graphs for NCCL_GRAPH_FILE: what NCCL takes as it stands, whatever it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "forestcoll/codes.hpp"
#include "forestcoll/topology_text.hpp"
#include "forestcoll/verify.hpp"
#include "support/valid.hpp"

namespace forestcoll {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRight =
    "<graphs version=\"1\">\n"
    "<graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"2\" speedintra=\"25\" "
    "speedinter=\"12.5\" latencyinter=\"0\" typeintra=\"NVL\" typeinter=\"PXN\" "
    "samechannels=\"0\">\n"
    "<channel><gpu dev=\"0x0\"/><gpu dev=\"0x1\"/><gpu dev=\"0x2\"/></channel>\n"
    "<channel><gpu dev=\"0x2\"/><gpu dev=\"0x1\"/><gpu dev=\"0x0\"/></channel>\n"
    "</graph></graphs>\n";

std::string with(const std::string& old, const std::string& now) {
  std::string text = kRight;
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), now);
}

Verdict judged_graph(const std::string& text, const Topology* topology = nullptr) {
  return test::valid(verify(text, "graph", topology, {}));
}

TEST(GraphFile, IsRight) {
  const Verdict verdict = judged_graph(kRight);
  EXPECT_TRUE(verdict.ok) << to_string(verdict.findings.front());
  EXPECT_EQ(verdict.format, "nccl-graph");
  EXPECT_EQ(verdict.channels, 2);
  EXPECT_EQ(verdict.outcome, "rings in 2 channels over 3 GPUs of a box");
}

struct WrongGraph {
  const char *old, *now;
  Code code;
  const char* words;
};

class WrongGraphs : public ::testing::TestWithParam<WrongGraph> {};

TEST_P(WrongGraphs, AreFound) {
  const auto& [old, now, code, words] = GetParam();
  const Verdict verdict = judged_graph(with(old, now));
  ASSERT_FALSE(verdict.ok) << now;
  EXPECT_EQ(verdict.findings.front().code, code) << to_string(verdict.findings.front());
  EXPECT_THAT(verdict.findings.front().message, HasSubstr(words));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongGraphs,
    ::testing::Values(
        WrongGraph{"version=\"1\"", "version=\"2\"", Code::V04, "version"},
        WrongGraph{"id=\"0\"", "id=\"7\"", Code::V03, "from 0 to 4"},
        WrongGraph{"pattern=\"4\"", "pattern=\"1\"", Code::V04, "not one of rings"},
        WrongGraph{"nchannels=\"2\"", "nchannels=\"3\"", Code::V03, "2 channels stand there"},
        WrongGraph{"nchannels=\"2\"", "nchannels=\"65\"", Code::V03, "from 1 to 32"},
        WrongGraph{"speedintra=\"25\"", "speedintra=\"0\"", Code::V03, "GB/s"},
        WrongGraph{"typeintra=\"NVL\"", "typeintra=\"NVLINK\"", Code::V03, "expected one of LOC"},
        WrongGraph{"dev=\"0x2\"/></channel>", "dev=\"0x1\"/></channel>", Code::V24, "stands twice"},
        WrongGraph{"<gpu dev=\"0x2\"/></channel>", "</channel>", Code::V24, "visits 2 of the 3"},
        WrongGraph{"dev=\"0x2\"/></channel>", "dev=\"0x9\"/></channel>", Code::V24, "device 9"},
        WrongGraph{"dev=\"0x2\"/></channel>", "dev=\"gpu2\"/></channel>", Code::V03, "such as 0x7"},
        WrongGraph{"<channel><gpu dev=\"0x0\"/>", "<channel><net dev=\"0\"/><gpu dev=\"0x0\"/>",
                   Code::V24, "one <net> before"},
        WrongGraph{" crossnic", "\ncrossnic", Code::V02, ""},
        WrongGraph{"</graph></graphs>", "</graph>", Code::V01, "not XML"}));

Topology line_of_three() {
  auto parsed = parse_topology(R"({"format": "forestcoll-topology", "version": 1, "name": "line",
    "nodes": [{"id": "g[0-2]", "type": "compute"}],
    "links": [{"src": "g0", "dst": "g1", "bandwidth": 1},
              {"src": "g1", "dst": "g2", "bandwidth": 1}]})",
                               "line");
  EXPECT_TRUE(parsed);
  return parsed->topology;
}

// From the last GPU back to the first no link leads.
TEST(GraphFile, RingsGoOverLinks) {
  const Topology topology = line_of_three();
  const Verdict verdict = judged_graph(kRight, &topology);
  ASSERT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.findings.front().code, Code::V20);
  EXPECT_THAT(verdict.findings.front().message, HasSubstr("no link leads from g2 to g0"));
}

// NCCL's NVB: over two links, through a GPU.
TEST(GraphFile, RingsMayGoThroughAGpu) {
  const Topology topology = line_of_three();
  std::string bridged = kRight;
  const std::string type = "typeintra=\"NVL\"";
  bridged.replace(bridged.find(type), type.size(), "typeintra=\"NVB\"");
  EXPECT_TRUE(judged_graph(bridged, &topology).ok);
}

TEST(GraphFile, ChannelsHaveGpus) {
  const Verdict verdict = judged_graph(
      "<graphs version=\"1\"><graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"1\" "
      "speedintra=\"1\" speedinter=\"1\" typeintra=\"NVL\" typeinter=\"PIX\" "
      "samechannels=\"1\"><channel></channel></graph></graphs>");
  ASSERT_FALSE(verdict.ok);
  EXPECT_THAT(verdict.findings.front().message, HasSubstr("no GPU stands there"));
}

TEST(GraphFile, WithoutGraphsIsNone) {
  EXPECT_EQ(judged_graph("<graphs version=\"1\"></graphs>").findings.front().code, Code::V19);
}

}  // namespace
}  // namespace forestcoll
