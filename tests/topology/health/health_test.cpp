// Dumps of health: what they take from a topology, and what they only say. The dumps are written by
// hand, as the tools' documentation shows them.
#include "forestcoll/health.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "forestcoll/generate.hpp"
#include "support/valid.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

using Counts = std::map<std::size_t, std::set<std::int64_t>>;

Topology machine(const std::string& name, const std::string& boxes = "1") {
  const auto document = generate(name, {{"boxes", boxes}});
  EXPECT_TRUE(document) << name;
  return parse_valid(to_topology_json(*document));
}

// `nvidia-smi nvlink -s` of GPUs with so many links, of which some are inactive.
std::string nvlink_status(std::size_t gpus, std::int64_t links, const Counts& inactive,
                          const std::string& speed = "26.562 GB/s") {
  std::string text;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    text += fmt::format("GPU {}: NVIDIA Something (UUID: GPU-0000000{})\n", gpu, gpu);
    for (std::int64_t link = 0; link < links; ++link) {
      const auto of_gpu = inactive.find(gpu);
      const bool down = of_gpu != inactive.end() && of_gpu->second.contains(link);
      text += fmt::format("\t Link {}: {}\n", link, down ? "<inactive>" : speed);
    }
  }
  return text;
}

HealthReport report_of(const Topology& topology, const std::string& text,
                       const std::string& gpus = "") {
  return test::valid(read_health(topology, text, "dump.txt", gpus));
}

// What is left is a fabric; every failure is one that `degrade` takes.
Topology left_of(const Topology& topology, const HealthReport& report) {
  auto left = degrade(topology, report.failures);
  if (!left) {
    ADD_FAILURE() << to_string(left.errors().front());
    return topology;
  }
  return std::move(left->topology);
}

std::string error_of(const Topology& topology, const std::string& text,
                     const std::string& gpus = "") {
  const auto report = read_health(topology, text, "dump.txt", gpus);
  if (report) return "accepted";
  expect_remedies(report.errors(), text);
  return to_string(report.errors().front());
}

std::vector<std::string> messages_of(const Diagnostics& warnings) {
  std::vector<std::string> messages;
  for (const Diagnostic& warning : warnings) {
    EXPECT_EQ(warning.code, Code::I21);
    messages.push_back(warning.message);
  }
  return messages;
}

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

std::string link_types(std::size_t gpus,
                       const std::set<std::pair<std::size_t, std::size_t>>& pcie) {
  std::string text = "=========================== Link Type between two GPUs =======\n      ";
  for (std::size_t i = 0; i < gpus; ++i) text += fmt::format(" GPU{}       ", i);
  for (std::size_t i = 0; i < gpus; ++i) {
    text += fmt::format("\nGPU{}  ", i);
    for (std::size_t j = 0; j < gpus; ++j) {
      const bool by_pcie = pcie.contains(std::minmax(i, j));
      text += i == j ? " 0   " : by_pcie ? " PCIE" : " XGMI";
    }
  }
  return text + "\n========== Numa Nodes ==========\nGPU[0]\t\t: (Topology) Numa Node: 0\n";
}

TEST(Health, XgmiThatIsMissing) {
  const Topology box = machine("mi300x");
  const auto report = report_of(box, link_types(8, {{1, 6}}));
  EXPECT_THAT(report.failures.drop, ElementsAre("gpu1~gpu6"));
  EXPECT_THAT(report.found, ElementsAre(HasSubstr("gpu1 and gpu6: xGMI is missing")));
  left_of(box, report);
  // On MI250 the matrix says XGMI of all; what the topology lacks is no loss.
  EXPECT_TRUE(report_of(machine("frontier"), link_types(8, {{0, 7}})).failures.empty());
  const auto errors =
      report_of(box,
                "GPU[2]\t\t: XGMI Error count: 1 (Single error detected since last read)\n"
                "GPU[7]\t\t: XGMI Error count: 0 (No errors detected since last read)\n");
  EXPECT_TRUE(errors.failures.empty());
  EXPECT_THAT(messages_of(errors.warnings), ElementsAre(HasSubstr("gpu2: rocm-smi counts xGMI")));
  EXPECT_THAT(
      error_of(box, link_types(8, {}) + "=== Link Type between two GPUs\nGPU0 GPU1\nGPU0 0\n"),
      HasSubstr("[I02]"));
}

TEST(Health, AMatrixOfLinkTypesIsWhole) {
  const Topology box = machine("mi300x");
  const std::string whole = link_types(8, {{1, 6}});
  const auto error_without = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const std::size_t begin = text.find(from), end = text.find(to);
    return error_of(box, text.replace(begin, end - begin, "\n"));
  };
  EXPECT_THAT(error_without("\nGPU1  ", "\n====="),
              AllOf(HasSubstr("[I02]"), HasSubstr("found 1 of its 8 rows")));
  EXPECT_THAT(error_without("\nGPU0  ", "\n====="), HasSubstr("found 0 of its 8 rows"));
  EXPECT_THAT(error_without("       GPU0", "\n====="), HasSubstr("found 0 of its 0 rows"));
  EXPECT_THAT(error_of(box, whole + whole), HasSubstr("found a second matrix"));
  std::string twice = whole;
  twice.replace(twice.find("\nGPU1"), 5, "\nGPU0");
  EXPECT_THAT(error_of(box, twice), HasSubstr("found the row \"GPU0 "));
  // Where the two halves differ, one end is by PCIe.
  std::string half = whole;
  half.replace(half.find("PCIE"), 4, "XGMI");
  EXPECT_THAT(report_of(box, half).failures.drop, ElementsAre("gpu1~gpu6"));
}

// Two hosts of two adapters, each cabled with 25 GB/s.
Topology two_hosts() {
  return parse_valid(R"({"format": "forestcoll-topology", "version": 1,
    "templates": {"machine": {
      "nodes": [{"id": "gpu[0-1]", "type": "compute"}, {"id": "nic[0-1]", "type": "switch"}],
      "links": [{"src": "gpu0", "dst": "gpu1", "bandwidth": 100, "kind": "nvlink"},
                {"src": "gpu[0-1]", "dst": "nic[0-1]", "pair": "zip", "bandwidth": 32, "kind": "pcie"}]}},
    "boxes": [{"id": "node[1-3]", "template": "machine"}],
    "nodes": [{"id": "sw[0-1]", "type": "switch"}],
    "links": [{"src": "node[1-3]/nic0", "dst": "sw0", "bandwidth": 25, "kind": "ib"},
              {"src": "node[1-3]/nic1", "dst": "sw1", "bandwidth": 25, "kind": "ib"}]})");
}

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
