// Dumps of `nvidia-smi nvlink` and `dcgmi nvlink`: links by GPU, their states and counts of errors.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "topology/health/health_testing.hpp"

namespace forestcoll::testing {
namespace {

TEST(Health, NvlinksToTheSwitchesAreItsCables) {
  const Topology dgx = machine("dgx-a100");
  const auto report = report_of(dgx, nvlink_status(8, 12, {{3, {2, 7}}}, "25 GB/s"));
  EXPECT_EQ(report.source, "nvidia-smi nvlink -s");
  EXPECT_THAT(report.failures.drop, ElementsAre("gpu3~nvsw*2"));
  EXPECT_THAT(report.found, ElementsAre("gpu3: 2 of 12 NVLinks are down"));
  EXPECT_THAT(report.warnings, IsEmpty());
  EXPECT_EQ(left_of(dgx, report).links[LinkId(3)].bandwidth, Ratio(250));

  const auto healthy = report_of(dgx, nvlink_status(8, 12, {}));
  EXPECT_TRUE(healthy.failures.empty());
  EXPECT_THAT(healthy.found, IsEmpty());
}

TEST(Health, ASlowNvlinkIsPartOfTheBandwidth) {
  const Topology dgx = machine("dgx-a100");
  std::string dump = nvlink_status(8, 12, {{0, {0}}}, "25 GB/s");
  dump.replace(dump.rfind("25 GB/s"), 7, "12.5 GB/s");
  const auto report = report_of(dgx, dump);
  EXPECT_THAT(report.failures.drop, ElementsAre("gpu0~nvsw*1"));
  ASSERT_EQ(report.failures.derate.size(), 1U);
  EXPECT_EQ(report.failures.derate[0], "gpu7~nvsw=23/24");
  EXPECT_EQ(left_of(dgx, report).links[LinkId(7)].bandwidth, Ratio(575, 2));
}

TEST(Health, NvlinksBetweenGpusAreFoundAtBothEnds) {
  const Topology cube = machine("dgx-1v");
  // Between GPUs 0 and 3 are two links.
  const auto report = report_of(cube, nvlink_status(8, 6, {{0, {1, 4}}, {3, {0, 5}}}));
  EXPECT_THAT(report.failures.drop, ElementsAre("gpu0~gpu3"));
  EXPECT_THAT(report.found, ElementsAre("gpu0: 2 of 6 NVLinks are down, those to gpu3"));
  left_of(cube, report);
  // One end alone says nothing of where the link leads.
  const auto doubt = report_of(cube, nvlink_status(8, 6, {{3, {3, 5}}}));
  EXPECT_TRUE(doubt.failures.empty());
  EXPECT_THAT(messages_of(doubt.warnings),
              ElementsAre(HasSubstr("gpu3: 2 of 6 NVLinks are down, and the dump does not say")));
  // A dump that is cut off has no line of some links.
  EXPECT_THAT(
      error_of(cube, nvlink_status(8, 4, {})),
      AllOf(HasSubstr("[I02]"), HasSubstr("gpu0 has 6 NVLinks in the topology, and 4 are")));
  const std::string whole = nvlink_status(8, 6, {});
  EXPECT_THAT(
      error_of(cube, whole.substr(0, whole.rfind("GPU 7")) + "GPU 7: Tesla V100\n"),
      AllOf(HasSubstr("[I02]"), HasSubstr("gpu7 has 6 NVLinks in the topology, and 0 are")));
  // Links beyond the topology's are not wired.
  const Topology quad = machine("gh200-quad");
  EXPECT_TRUE(report_of(quad, nvlink_status(4, 18, {})).failures.empty());
}

TEST(Health, ATopologyWithoutCablesIsDerated) {
  const Topology sum = parse_valid(R"({"format": "forestcoll-topology", "version": 1,
    "nodes": [{"id": "g[0-1]", "type": "compute"}, {"id": "s", "type": "switch"}],
    "links": [{"src": "g[0-1]", "dst": "s", "bandwidth": 300, "kind": "nvlink"}]})");
  const auto report = report_of(sum, nvlink_status(2, 12, {{1, {0, 1, 2}}}));
  EXPECT_THAT(report.failures.derate, ElementsAre("g1~s=0.75"));
  EXPECT_THAT(report.found, ElementsAre("g1: 3 of 12 NVLinks are down"));
  EXPECT_EQ(left_of(sum, report).links[LinkId(1)].bandwidth, Ratio(225));
}

TEST(Health, CountsOfErrorsChangeNothing) {
  const Topology dgx = machine("dgx-a100");
  std::string dump;
  for (int gpu = 0; gpu < 8; ++gpu) {
    dump += fmt::format("GPU {}: NVIDIA A100 (UUID: GPU-{})\n", gpu, gpu);
    for (const char* kind : {"Replay", "Recovery", "CRC"}) {
      dump += fmt::format("\t Link 0: {} Errors: {}\n", kind, gpu == 5 && kind[0] == 'C' ? 42 : 0);
    }
  }
  const auto report = report_of(dgx, dump);
  EXPECT_EQ(report.source, "nvidia-smi nvlink -e");
  EXPECT_TRUE(report.failures.empty());
  EXPECT_THAT(messages_of(report.warnings),
              ElementsAre("gpu5: NVLink 0 counts 42 CRC Errors; nothing is changed by it"));
}

// What a healthy B300 counted, with one failed recovery.
TEST(Health, CountsOfHealthyLinksAreNoErrors) {
  const auto report =
      report_of(machine("dgx-b300"),
                "GPU 0: NVIDIA B300 SXM6 AC (UUID: GPU-0)\n"
                "\t Link 0: Tx packets: 5\n\t Link 0: Tx bytes: 640\n"
                "\t Link 0: Rx Errors: 0\n\t Link 0: Tx discards: 0\n"
                "\t Link 0: Link recovery successful events: 0\n"
                "\t Link 0: Link recovery failed events: 1\n"
                "\t Link 0: Effective Errors: 0\n\t Link 0: Effective BER: 15e-255\n"
                "\t Link 0: FEC Errors - 0: 36140749276\n\t Link 0: FEC Errors - 1: 9\n"
                "\t Link 0: Raw BER Lane 0: 2061\n\t Link 0: Raw Errors Lane 0: 82\n");
  EXPECT_EQ(report.source, "nvidia-smi nvlink -e");
  EXPECT_THAT(messages_of(report.warnings),
              ElementsAre(HasSubstr("NVLink 0 counts 1 Link recovery failed events")));
}

TEST(Health, DcgmiHasALetterForEachLink) {
  const Topology dgx = machine("dgx-a100");
  std::string dump = "+----------------------+\n|  NvLink Link Status  |\n";
  dump += "+----------------------+\nGPUs:\n";
  for (int gpu = 0; gpu < 8; ++gpu) {
    dump += fmt::format("    gpuId {}:\n        U U U U U U {} U U U {} U _ _\n", gpu,
                        gpu == 6 ? "D" : "U", gpu == 6 ? "X" : "U");
  }
  dump += "NvSwitches:\n    physicalId 8:\n        U D U X\n";
  const auto report = report_of(dgx, dump);
  EXPECT_EQ(report.source, "dcgmi nvlink -s");
  EXPECT_THAT(report.failures.drop, ElementsAre("gpu6~nvsw*2"));
  const std::string cut_off = dump.substr(0, dump.find("gpuId 7:") + 9);
  EXPECT_THAT(error_of(dgx, cut_off), HasSubstr("gpu7 has 12 NVLinks in the topology, and 0 are"));
  EXPECT_THAT(error_of(dgx, cut_off + "        U Q U\n"), HasSubstr("a letter for each link"));
}

// All links of a GPU: what is left is no fabric, and `degrade` says so.
TEST(Health, AGpuWithoutLinksIsCutOff) {
  const Topology dgx = machine("dgx-a100");
  std::set<std::int64_t> all;
  for (std::int64_t link = 0; link < 12; ++link) all.insert(link);
  const auto report = report_of(dgx, nvlink_status(8, 12, {{4, all}}));
  EXPECT_THAT(report.failures.drop, ElementsAre("gpu4~nvsw"));
  EXPECT_THAT(report.found, ElementsAre("gpu4: all 12 NVLinks are down"));
  EXPECT_FALSE(degrade(dgx, report.failures));
  const auto told =
      report_of(machine("dgx-a100", "2"),
                "GPU 4: NVIDIA A100 (UUID: GPU-4)\n"
                "NVML: Unable to retrieve Nvlink information as all links are inActive\n",
                "box0");
  EXPECT_THAT(told.failures.drop, ElementsAre("box0/gpu4~box0/nvsw"));
}

}  // namespace
}  // namespace forestcoll::testing
