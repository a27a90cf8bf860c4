// Ports and cables of InfiniBand by `ibdiagnet2.db_csv` and `ibdiagnet2.lst`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "topology/health/health_testing.hpp"

namespace forestcoll::testing {
namespace {

// `ibdiagnet2.db_csv` of the two adapters of three hosts on one switch: by port of the switch, its
// state, speed and width; adapters that are down are not in the tables.
struct IbPort {
  std::string adapter;
  int state = 4, speed = 1024, width = 2;
};

std::string db_csv(const std::vector<IbPort>& ports) {
  std::string nodes =
      "START_NODES\nNodeDesc,NumPorts,NodeType,SystemImageGUID,NodeGUID,PortGUID\n"
      "\"MF0;leaf1:MQM8700/U1\",41,2,0xb8,0x00b8,0xb8\n"
      "\"Mellanox Technologies Aggregation Node\",1,1,0xb8,0xb9,0xb9\n";
  std::string rows =
      "START_PORTS\nNodeGuid,PortGuid,PortNum,LinkWidthActv,LinkWidthSup,LinkSpeedActv,"
      "PortPhyState,PortState,LinkSpeedSup\n0xb8,0xb8,0,0,0,0,0,N/A,0\n";
  std::string links = "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n";
  int number = 0;
  for (const IbPort& port : ports) {
    ++number;
    const std::string state = fmt::format("{},19,{},5,{},1793", port.width, port.speed, port.state);
    rows += fmt::format("0xb8,0xb8,{},{}\n", number, state);
    if (port.state == 1) continue;
    nodes += fmt::format("\"{}\",1,1,0xc{},0xC{},0xc{}\n", port.adapter, number, number, number);
    rows += fmt::format("0x00c{},0xc{},1,{}\n", number, number, state);
    links += fmt::format("0xb8,{},0xc{},1\n", number, number);
  }
  return "# Running version: \"IBDIAGNET 2.9.0\"\n" + nodes + "END_NODES\n\n\n" + rows +
         "END_PORTS\n\nSTART_TEMP\nx,\"\nEND_TEMP\n" + links + "END_LINKS\n";
}

TEST(Health, PortsOfIbdiagnet) {
  const Topology fabric = two_hosts();
  const auto report = report_of(fabric, db_csv({{"node1 mlx5_0"},
                                                {"node1 mlx5_10", 4, 512},
                                                {"node2 mlx5_0", 1},
                                                {"node2 mlx5_10"},
                                                {"node3 mlx5_0", 4, 1024, 16},
                                                {"node3 mlx5_10", 2}}));
  EXPECT_EQ(report.source, "ibdiagnet");
  EXPECT_THAT(report.failures.drop, ElementsAre("node2/nic0~sw0", "node3/nic1~sw1"));
  EXPECT_THAT(report.failures.derate, ElementsAre("node1/nic1~sw1=0.5", "node3/nic0~sw0=0.5"));
  EXPECT_THAT(report.found,
              ElementsAre("node1: mlx5_10 has 12.5 of 25 GB/s", "node2: mlx5_0 is down",
                          "node3: mlx5_0 has 12.5 of 25 GB/s", "node3: mlx5_10 is down"));
  EXPECT_THAT(messages_of(report.warnings),
              ElementsAre(HasSubstr("\"MF0;leaf1:MQM8700/U1\" port 2 to \"node1 mlx5_10\" port 1: "
                                    "4X EDR, could be 4X HDR (ibdiagnet)"),
                          HasSubstr("port 5 to \"node3 mlx5_0\" port 1: 2X HDR, could be 4X HDR")));
}

TEST(Health, IbdiagnetThatCannotBeRead) {
  const Topology fabric = two_hosts();
  const std::string whole = db_csv({{"node1 mlx5_0"}, {"node1 mlx5_1"}});
  const auto error_where = [&](const std::string& part, const std::string& with) {
    std::string text = whole;
    text.replace(text.find(part), part.size(), with);
    return error_of(fabric, text);
  };
  EXPECT_THAT(error_where("END_PORTS", ""),
              HasSubstr("PORTS as ibdiagnet writes it, found no END"));
  EXPECT_THAT(error_where("PortState,", "State,"), HasSubstr("found a row without PortState"));
  EXPECT_THAT(error_where(",2,19,1024", ",2,19,77"),
              HasSubstr("an active port of LinkSpeedActv 77 and LinkWidthActv 2"));
  EXPECT_THAT(error_where(",2,19,1024", ",3,19,1024"), HasSubstr("LinkWidthActv 3"));
  EXPECT_THAT(error_where(",2,19,1024", ",2,19,N/A"), HasSubstr("\"N/A\" for LinkSpeedActv"));
  EXPECT_THAT(error_where("\"node1 mlx5_1\"", "\"node1 mlx5_1"), HasSubstr("quotation mark"));
  EXPECT_THAT(error_of(fabric, whole + whole),
              HasSubstr("NODES as ibdiagnet writes it, found it a"));
  EXPECT_THAT(error_where("0x00c2,0xc2,1,", "0xc1,0xc1,1,"),
              HasSubstr("found port 1 of \"0xc1\" a second time"));
  EXPECT_THAT(error_where("node1 mlx5_0", "other mlx5_0"), ::testing::Not(HasSubstr("[I02]")));
  EXPECT_THAT(error_of(fabric, db_csv({{"other mlx5_0"}})), HasSubstr("[I02]"));
}

// `ibdiagnet2.lst`: a cable of an adapter to a port of the switch, its state and speed.
std::string listed_cable(const std::string& adapter, int number, const std::string& state) {
  const auto end = [](const std::string& kind, const std::string& guid, const std::string& name,
                      int port) {
    return fmt::format(
        "{{ {0} Ports:01 SystemGUID:{1} NodeGUID:{1} PortGUID:{1} VenID:0002C9 DevID:1013 "
        "Rev:00000000 {{{2}}} LID:0032 PN:{3:02X} }}",
        kind, guid, name, port);
  };
  return end("CA", fmt::format("7cfe90000{}", number), adapter, 1) + " " +
         end("SW", "7cfe9003", "MF0;leaf1:CS7500/L17/U2", number) + " " + state + "\n";
}

TEST(Health, CablesOfIbdiagnetsList) {
  const Topology fabric = two_hosts();
  const std::string up = "PHY=4x LOG=ACT SPD=50";
  const std::string whole =
      "# Running version: \"IBDIAGNET 2.9.0\"\n" + listed_cable("node1 mlx5_0", 1, up) +
      listed_cable("node1 mlx5_10", 2, "PHY=4x LOG=ACT SPD=25") +
      listed_cable("node2 mlx5_0", 3, "PHY=4x LOG=INI SPD=2.5") +
      listed_cable("node2 mlx5_10", 4, up) + listed_cable("node3 mlx5_0", 5, up) +
      listed_cable("Mellanox Technologies Aggregation Node", 6, up);
  const auto report = report_of(fabric, whole);
  EXPECT_EQ(report.source, "ibdiagnet2.lst");
  EXPECT_THAT(report.failures.drop, ElementsAre("node2/nic0~sw0", "node3/nic1~sw1"));
  EXPECT_THAT(report.failures.derate, ElementsAre("node1/nic1~sw1=0.5"));
  EXPECT_THAT(report.warnings, IsEmpty());
  // A cable that is there twice counts once, and at one speed.
  EXPECT_EQ(report_of(fabric, whole + whole).failures.derate, report.failures.derate);
  EXPECT_THAT(error_of(fabric, whole + listed_cable("node1 mlx5_0", 1, "PHY=1x LOG=ACT SPD=50")),
              AllOf(HasSubstr("[I02]"), HasSubstr("expected each cable at one speed")));
  for (const auto& [part, with] :
       std::vector<std::pair<std::string, std::string>>{{" {node1 mlx5_0}", ""},
                                                        {"NodeGUID:7cfe900001", ""},
                                                        {"{ CA", "CA"},
                                                        {"PHY=4x", "PHY=16x"},
                                                        {"PHY=4x", "PHY=4"},
                                                        {"SPD=50", "SPD=99"},
                                                        {" SPD=50", ""},
                                                        {"LOG=", ""},
                                                        {"PN:01 }", "PN:01"}}) {
    std::string text = whole;
    text.replace(text.find(part), part.size(), with);
    EXPECT_THAT(error_of(fabric, text), HasSubstr("expected a cable with both ends")) << part;
  }
  EXPECT_THAT(error_of(fabric, whole.substr(0, whole.size() - 30)), HasSubstr("a cable with both"));
}

}  // namespace
}  // namespace forestcoll::testing
