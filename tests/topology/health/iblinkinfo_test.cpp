// Ports of InfiniBand by `iblinkinfo`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "topology/health/health_testing.hpp"

namespace forestcoll::testing {
namespace {

std::string adapter(const std::string& name, const std::string& state) {
  return "CA: " + name + ":\n      0x0c42a10300aabb01      9    1[  ] ==(" + state +
         ")==>       3   22[  ] \"MF0;leaf1:MQM8700/U1\" ( )\n";
}

TEST(Health, PortsOfInfiniBand) {
  const Topology fabric = two_hosts();
  const std::string up = " 4X        53.125 Gbps Active/  LinkUp";
  const std::string slow = " 4X      25.78125 Gbps Active/  LinkUp";
  const std::string down = "                Down/ Polling";
  const auto report =
      report_of(fabric, adapter("node1 mlx5_0", up) + adapter("node1 mlx5_10", slow) +
                            adapter("node2 mlx5_0", down) + adapter("node2 mlx5_10", up) +
                            "Switch: 0xb8599f03001a2b3c MF0;leaf1:MQM8700/U1:\n"
                            "           3   22[  ] ==(" +
                            up +
                            ")==>       9    1[  ] \"node1 mlx5_0\" ( )\n"
                            "           3   30[  ] ==(" +
                            down + ")==>             [  ] \"\" ( )\n");
  EXPECT_EQ(report.source, "iblinkinfo");
  EXPECT_THAT(report.failures.drop, ElementsAre("node2/nic0~sw0"));
  EXPECT_THAT(report.failures.derate, ElementsAre("node1/nic1~sw1=0.5"));
  EXPECT_THAT(report.found,
              ElementsAre("node1: mlx5_10 has 12.5 of 25 GB/s", "node2: mlx5_0 is down"));
  EXPECT_THAT(messages_of(report.warnings),
              ElementsAre(HasSubstr("does not name 1 box of the topology, such as \"node3\"")));
  left_of(fabric, report);
}

TEST(Health, IblinkinfoThatIsNotWhole) {
  const Topology fabric = two_hosts();
  const std::string up = " 4X        53.125 Gbps Active/  LinkUp";
  const std::string whole = adapter("node1 mlx5_0", up) + adapter("node1 mlx5_1", up);
  EXPECT_TRUE(report_of(fabric, whole).failures.empty());
  // A port that is not listed would be taken for one that is down.
  EXPECT_THAT(error_of(fabric, whole.substr(0, whole.size() - 15)),
              AllOf(HasSubstr("[I02]"), HasSubstr("headings and all")));
  EXPECT_THAT(error_of(fabric, whole + "CA: node2 mlx5_0:\n"),
              HasSubstr("found no port below \"CA: node2 mlx5_0:\""));
  EXPECT_THAT(error_of(fabric, "CA: node2 mlx5_0:\n" + whole), HasSubstr("found no port below"));
  // Of another time: the sum of both would be taken for the speed.
  EXPECT_THAT(error_of(fabric, whole + adapter("node1 mlx5_0", up)),
              AllOf(HasSubstr("found the port \"0x0c42a10300aabb01"), HasSubstr("a second time")));
  EXPECT_THAT(error_of(fabric, adapter("node1 mlx5_0", "     Down/ Polling")),
              AllOf(HasSubstr("found no port that is up"), HasSubstr("--down")));
}

TEST(Health, PortsOfOneLineAndOfSwitchesAlone) {
  const Topology fabric = two_hosts();
  std::string dump;
  int port = 0;
  for (const char* node : {"node1", "node2", "node3"}) {
    for (const char* nic : {"mlx5_0", "mlx5_1"}) {
      if (std::string(node) + nic == "node3mlx5_1") continue;  // its cable is out
      dump += fmt::format(
          "0xb8599f03001a2b3c \"    MF0;leaf1:MQM8700/U1\"      3   {}[  ] ==( 4X        53.125 "
          "Gbps Active/  LinkUp)==>  0x0c42a10300aabb01      9    1[  ] \"{} {}\" ( Could be "
          "106.25 Gbps)\n",
          ++port, node, nic);
    }
  }
  const auto report = report_of(fabric, dump);
  EXPECT_THAT(report.failures.drop, ElementsAre("node3/nic1~sw1"));
  EXPECT_EQ(report.warnings.size(), 5U);
  EXPECT_THAT(error_of(machine("dgx-a100"), dump), HasSubstr("none of its 3 hosts is a box"));
  EXPECT_THAT(error_of(fabric, "CA: node1 mlx5_0:\n ==( 4X 99 Gbps Active/ LinkUp)==> \"x\" ( )\n"),
              HasSubstr("[I02]"));
}

}  // namespace
}  // namespace forestcoll::testing
