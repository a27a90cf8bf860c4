// What holds for the dumps of all tools: which machine they are of, and what is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "topology/health/health_testing.hpp"

namespace forestcoll::testing {
namespace {

TEST(Health, ABoxOfSeveralIsNamed) {
  const Topology pair = machine("dgx-h100", "2");
  const std::string dump = nvlink_status(8, 18, {{0, {17}}});
  EXPECT_THAT(error_of(pair, dump), AllOf(HasSubstr("[I05]"), HasSubstr("box1=dump.txt")));
  EXPECT_THAT(report_of(pair, dump, "box1").failures.drop, ElementsAre("box1/gpu0~box1/nvsw*1"));
  // A machine whose first GPU is gone numbers the others from 0.
  const std::string seven = nvlink_status(7, 18, {{0, {17}}});
  EXPECT_THAT(error_of(pair, seven, "box1"),
              AllOf(HasSubstr("[I02]"), HasSubstr("7 of the 8 GPUs"), HasSubstr("gpu[0-2,4-7]")));
  EXPECT_THAT(report_of(pair, seven, "box1/gpu[1-7]").failures.drop,
              ElementsAre("box1/gpu1~box1/nvsw*1"));
  EXPECT_THAT(error_of(pair, nvlink_status(9, 18, {}), "box0"), HasSubstr("a GPU 8"));
  EXPECT_THAT(error_of(pair, dump, "box7"), HasSubstr("[D01]"));
}

// Of a second machine or time: what is down in the first must not be lost.
TEST(Health, TwoDumpsInOneFileAreRefused) {
  const Topology dgx = machine("dgx-a100");
  EXPECT_THAT(
      error_of(dgx, nvlink_status(8, 12, {{2, {3}}}) + nvlink_status(8, 12, {})),
      AllOf(HasSubstr("[I02]"), HasSubstr("\"Link 0: 26.562 GB/s\" stands there a second")));
  const std::string dcgmi = "| NvLink Link Status |\ngpuId 0:\n U D U\n";
  EXPECT_THAT(error_of(dgx, dcgmi + dcgmi), HasSubstr("\"gpuId 0:\" stands there a second time"));
  // States and counts of one machine may stand in one file.
  const auto both =
      report_of(dgx, nvlink_status(1, 12, {{0, {3}}}) + "GPU 0: x\n Link 1: CRC Errors: 7\n");
  EXPECT_EQ(both.source, "nvidia-smi nvlink -s");
  EXPECT_THAT(both.failures.drop, ElementsAre("gpu0~nvsw*1"));
  EXPECT_EQ(both.warnings.size(), 1U);
}

TEST(Health, WhatIsNone) {
  const Topology dgx = machine("dgx-a100");
  for (const std::string text :
       {"hello", "GPU 0: x\n", "0 1 2\n", "{\"format\": \"forestcoll-topology\"}"}) {
    EXPECT_THAT(error_of(dgx, text), AllOf(HasSubstr("dump.txt"), HasSubstr("[I01]"))) << text;
  }
  // Other lists of nvidia-smi nvlink: -c, -R, -gt d.
  for (const std::string list :
       {"Link 0, P2P is supported: true", "Link 0: Remote Device 00000000:C6:00.0: Link 33",
        "Link 0: Data Tx: 123 KiB"}) {
    EXPECT_THAT(error_of(dgx, "GPU 0: x\n\t " + list + "\n"), HasSubstr("[I01]")) << list;
  }
  EXPECT_THAT(error_of(dgx, ""), HasSubstr("[E01]"));
  EXPECT_THAT(error_of(dgx, "GPU 0: x\n Link 0: fast\n"), HasSubstr("[I02]"));
  EXPECT_THAT(error_of(dgx, "GPU 99999: x\n Link 0: 25 GB/s\n"), HasSubstr("[I02]"));
  EXPECT_THAT(error_of(dgx, "GPU ?: x\n Link 0: 25 GB/s\n"), HasSubstr("[I02]"));
  EXPECT_THAT(error_of(dgx, nvlink_status(8, 12, {}, "99999999 GB/s")), HasSubstr("[I02]"));
}

}  // namespace
}  // namespace forestcoll::testing
