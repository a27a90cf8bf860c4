// The NVLink fabric of racks, by `nvidia-smi -q` and NCCL's log.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "topology/health/health_testing.hpp"

namespace forestcoll::testing {
namespace {

std::string fabric_section(const std::string& state, const std::string& status,
                           const std::string& bandwidth, const std::string& route) {
  return "GPU 00000008:01:00.0\n    Product Name                          : NVIDIA GB200\n"
         "    Fabric\n        State                             : " +
         state + "\n        Status                            : " + status +
         "\n        CliqueId                          : 1\n        Health\n"
         "            Summary                       : " +
         (route == "True" ? "Unhealthy" : "Healthy") +
         "\n            Bandwidth                     : " + bandwidth +
         "\n            Route Recovery in progress    : False\n"
         "            Route Unhealthy               : " +
         route +
         "\n            Access Timeout Recovery       : False\n"
         "    Processes                             : None\n";
}

TEST(Health, GpusOffTheNvlinkFabricLoseIt) {
  const Topology racks = machine("gb200-nvl72", "2");
  const std::string well = fabric_section("Completed", "Success", "Full", "False");
  const std::string dump = "==============NVSMI LOG==============\n" + well +
                           fabric_section("Completed", "Insufficient Resources", "N/A", "N/A") +
                           fabric_section("Completed", "Success", "Degraded", "True") +
                           fabric_section("N/A", "N/A", "N/A", "N/A");
  const auto report = report_of(racks, dump, "box1/gpu[4-7]");
  EXPECT_EQ(report.source, "nvidia-smi -q");
  EXPECT_THAT(report.failures.drop, ElementsAre("box1/gpu5~box1/nvsw"));
  EXPECT_THAT(report.found, ElementsAre(HasSubstr("box1/gpu5: it is not on the NVLink fabric, "
                                                  "status \"Insufficient Resources\"")));
  EXPECT_THAT(error_of(racks, dump.substr(0, dump.rfind("        Status")), "box1/gpu[4-7]"),
              AllOf(HasSubstr("[I02]"), HasSubstr("3 of 4 sections Fabric have a status")));
  EXPECT_THAT(messages_of(report.warnings),
              ElementsAre(HasSubstr("box1/gpu6: its health on the NVLink fabric is \"Unhealthy\""),
                          HasSubstr("its NVLink bandwidth is degraded"),
                          HasSubstr("a route of it is unhealthy")));
  left_of(racks, report);
}

TEST(Health, MasksOfNcclsLogAreBits) {
  const Topology rack = machine("gb300-nvl72");
  const auto line = [](int gpu, const std::string& mask) {
    return fmt::format(
        "node1:10:2{} [{}] NCCL INFO MNNVL busId 0x1901000 fabric UUID 1.2 cliqueId 0x1 state 3 "
        "healthMask 0x{}\n",
        gpu, gpu, mask);
  };
  // 0xaa: nothing is wrong; 0x1a5: bandwidth degraded, route recovery, and no wrong configuration.
  const auto report = report_of(rack, line(0, "aa") + line(1, "1a5") + line(2, "2aa"), "gpu[0-2]");
  EXPECT_TRUE(report.failures.empty());
  EXPECT_THAT(messages_of(report.warnings),
              ElementsAre(HasSubstr("gpu1: its NVLink bandwidth is degraded"),
                          HasSubstr("gpu1: a route of it is being recovered"),
                          HasSubstr("gpu2: it is configured wrongly")));
  // As launchers and NCCL_DEBUG_TIMESTAMP_LEVELS write it.
  for (const std::string prefix : {"[2026-11-30 10:11:12] ", "3: ", "[1,3]<stdout>: "}) {
    EXPECT_EQ(report_of(rack, prefix + line(0, "aa") + "9: " + line(1, "1a5"), "gpu[0-1]")
                  .warnings.size(),
              2U)
        << prefix;
  }
  std::string two = line(0, "aa");
  two += "node2" + line(1, "aa").substr(5);
  EXPECT_THAT(error_of(rack, two, "gpu[0-3]"), HasSubstr("healthMask of 2 hosts"));
  EXPECT_THAT(error_of(rack, "healthMask 0x1"), HasSubstr("[I02]"));
}

}  // namespace
}  // namespace forestcoll::testing
