// The matrix of nvidia-smi topo -m, in the forms that drivers print it.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

const Source kSmi = Source::nvidia_smi;

const std::string kSwitched =
    "        GPU0    GPU1    GPU2    GPU3    NIC0    NIC1    CPU Affinity    NUMA Affinity   GPU "
    "NUMA ID\n"
    "GPU0     X      NV18    NV18    NV18    PIX     SYS     0-55,112-167    0               N/A\n"
    "GPU1    NV18     X      NV18    NV18    PXB     SYS     0-55,112-167    0               N/A\n"
    "GPU2    NV18    NV18     X      NV18    SYS     PIX     56-111          1               N/A\n"
    "GPU3    NV18    NV18    NV18     X      SYS     PIX     56-111          1               N/A\n"
    "NIC0    PIX     PXB     SYS     SYS      X      SYS\n"
    "NIC1    SYS     SYS     PIX     PIX     SYS      X\n"
    "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n"
    "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_4\n";

const std::string kDirect =
    "\tGPU0\tGPU1\tGPU2\tmlx5_0\tCPU Affinity\n"
    "GPU0\t X \tNV1\tNV2\tSOC\t0-19\n"
    "GPU1\tNV1\t X \tNV2\tSOC\t0-19\n"
    "GPU2\tNV2\tNV2\t X \tSOC\t20-39\n"
    "mlx5_0\tSOC\tSOC\tSOC\t X \t\n";

TEST(ImportNvidiaSmi, UniformPairsBeyondTheLinksOfAGpuAreAnNvswitch) {
  const Imported imported = import_valid(kSmi, kSwitched, {.gpu = "h100"});
  EXPECT_THAT(imported.report.guesses, ElementsAre(HasSubstr("NVSwitch with 18 links")));
  const Topology fabric = import_fabric(kSmi, kSwitched, {.gpu = "h100"});
  EXPECT_THAT(arcs_of(fabric), Contains("box0/gpu0 -> box0/nvsw 450"));
  EXPECT_EQ(allgather(fabric), Ratio(600));
  EXPECT_EQ(
      allgather(import_fabric(kSmi, kSwitched, {.constants = LinkConstants::nccl, .gpu = "h100"})),
      Ratio(2472, 5));
}

TEST(ImportNvidiaSmi, OtherwiseLinksAreDirect) {
  const Topology fabric = import_fabric(kSmi, kDirect, {.gpu = "v100"});
  EXPECT_THAT(arcs_of(fabric),
              ElementsAre("box0/gpu0 -> box0/gpu1 25", "box0/gpu0 -> box0/gpu2 50",
                          "box0/gpu1 -> box0/gpu0 25", "box0/gpu1 -> box0/gpu2 50",
                          "box0/gpu2 -> box0/gpu0 50", "box0/gpu2 -> box0/gpu1 50"));
  // A pair with all of its links to each other needs no switch.
  const std::string pair = "GPU0 GPU1 CPU Affinity\nGPU0 X NV12 0-3\nGPU1 NV12 X 0-3\n";
  EXPECT_THAT(arcs_of(import_fabric(kSmi, pair, {.gpu = "a100"})),
              Contains("box0/gpu0 -> box0/gpu1 300"));
  EXPECT_THAT(import_valid(kSmi, pair, {.gpu = "a100"}).report.guesses,
              ElementsAre(HasSubstr("an NVSwitch would show NV12 too")));
}

// Names as nvidia-smi -L has them; of "L40S" no part is taken for an L40.
TEST(ImportNvidiaSmi, ModelsHaveTheirFullNames) {
  const std::string pair = "GPU0 GPU1 CPU Affinity\nGPU0 X PHB 0-3\nGPU1 PHB X 0-3\n";
  const auto pcie = [&](const std::string& gpu) {
    return arcs_of(import_fabric(kSmi, pair, {.gpu = gpu})).front();
  };
  for (const char* name : {"rtx4090", "RTX 4090", "NVIDIA GeForce RTX 4090", "NVIDIA L40S",
                           "NVIDIA RTX A6000", "NVIDIA A100-SXM4-80GB"}) {
    EXPECT_THAT(pcie(name), ::testing::EndsWith(" 24")) << name;
  }
  EXPECT_THAT(pcie("Tesla V100-SXM2-32GB"), ::testing::EndsWith(" 12"));
  EXPECT_THAT(pcie("NVIDIA RTX PRO 6000 Blackwell Workstation Edition"),
              ::testing::EndsWith(" 48"));
  EXPECT_THAT(import_errors(kSmi, pair, {.gpu = "L4000"}), ElementsAre("I04"));
  EXPECT_THAT(import_errors(kSmi, pair, {.gpu = "NVIDIA"}), ElementsAre("I04"));
}

// Each pair shows the links of the GPU that has fewer.
TEST(ImportNvidiaSmi, ADeadLinkToAnNvswitchIsW05) {
  std::string text = kSwitched;
  for (std::size_t at = text.find("GPU0     X"); text[at] != '\n'; ++at) {
    if (text.compare(at, 4, "NV18") == 0) text[at + 3] = '7';
  }
  for (const char* row : {"GPU1    NV18", "GPU2    NV18", "GPU3    NV18"}) {
    text = with(text, row, std::string(row, 11) + "7");
  }
  const Imported imported = import_valid(kSmi, text, {.gpu = "h100"});
  ASSERT_THAT(codes_of(imported.warnings), ElementsAre("W05"));
  EXPECT_THAT(imported.warnings[0].message, HasSubstr("gpu0 (17)"));
  EXPECT_THAT(imported.report.guesses, ElementsAre(HasSubstr("all pairs show NV17 to NV18")));
  const Topology fabric = import_fabric(kSmi, text, {.gpu = "h100"});
  EXPECT_THAT(arcs_of(fabric), AllOf(Contains("box0/gpu0 -> box0/nvsw 425"),
                                     Contains("box0/gpu1 -> box0/nvsw 450")));
  // A pair that shows less than both of its GPUs have is no switch's.
  EXPECT_THAT(import_errors(kSmi, with(kSwitched, "NV18", "NV17"), {.gpu = "h100"}),
              ElementsAre("I03 2:1"));
}

TEST(ImportNvidiaSmi, AGpuWithoutLinksToTheNvswitchIsNamed) {
  std::string text = with(kSwitched, "NV18    NV18    NV18    PIX     SYS ",
                          "SYS     SYS     SYS     PIX     SYS ");
  for (const char* row : {"GPU1    ", "GPU2    ", "GPU3    "}) {
    text = with(text, std::string("\n") + row + "NV18", std::string("\n") + row + "SYS ");
  }
  const Imported imported = import_valid(kSmi, text, {.gpu = "h100"});
  ASSERT_THAT(codes_of(imported.warnings), ElementsAre("W05"));
  EXPECT_THAT(imported.warnings[0].message, HasSubstr("gpu0 (0)"));
  EXPECT_THAT(imported.report.joined_by_pcie,
              ElementsAre(ElementsAre("gpu0"), ElementsAre("gpu1", "gpu2", "gpu3")));
  EXPECT_THAT(imported.report.nvlink_expected, IsEmpty());  // its links are there, but for one GPU
  // Three shares come in through the one slot.
  EXPECT_EQ(
      allgather(import_fabric(kSmi, text, {.bandwidths = {{"cpu", Ratio(64)}}, .gpu = "h100"})),
      Ratio(4 * 48, 3));
}

TEST(ImportNvidiaSmi, TheNearestGpusReachANic) {
  const ImportOptions options{
      .gpu = "h100", .nic_bandwidth = Ratio(50), .boxes = 2, .fabric = "rail"};
  const Imported imported = import_valid(kSmi, kSwitched, options);
  // NIC0 is nearest to GPU0 alone, but GPU1 has none nearer: they share it.
  const auto arcs = arcs_of(import_fabric(kSmi, kSwitched, options));
  EXPECT_THAT(arcs, Contains("box0/gpu1 -> box0/pcie_out0 48"));
  EXPECT_THAT(arcs, Contains("box0/gpu2 -> box0/pcie_out1 48"));
  EXPECT_THAT(imported.document.metadata, Contains(std::pair("nic1", "mlx5_4")));
  EXPECT_THAT(imported.report.guesses, Contains(HasSubstr("is that of the h100")));
  EXPECT_THAT(import_errors(kSmi, kSwitched, {.gpu = "h100", .boxes = 2, .fabric = "rail"}),
              ElementsAre(HasSubstr("I05 ")));
}

TEST(ImportNvidiaSmi, WaysThroughACpuAreAGuess) {
  const ImportOptions options{
      .gpu = "v100", .nic_bandwidth = Ratio(10), .boxes = 2, .fabric = "single"};
  EXPECT_THAT(import_valid(kSmi, kDirect, options).report.guesses,
              Contains(HasSubstr("meet at a CPU alone")));
}

TEST(ImportNvidiaSmi, ATerminalsEscapesAreNoText) {
  const std::string underlined =
      with(with(kSwitched, "        GPU0", "\t\x1b[4mGPU0"), "GPU NUMA ID", "GPU NUMA ID\x1b[0m");
  EXPECT_EQ(allgather(import_fabric(kSmi, underlined, {.gpu = "h100"})), Ratio(600));
  EXPECT_EQ(detect_source(underlined), kSmi);
}

TEST(ImportNvidiaSmi, PromptsBeforeAndColumnsBehindAreLeftOut) {
  const std::string text = "$ nvidia-smi topo -m\n" + kSwitched;
  EXPECT_EQ(allgather(import_fabric(kSmi, text, {.gpu = "h100"})), Ratio(600));
  const std::string bare = "GPU0 GPU1\nGPU0 X NV4\nGPU1 NV4 X\n";
  EXPECT_EQ(allgather(import_fabric(kSmi, bare, {.gpu = "p100"})), Ratio(160));
}

TEST(ImportNvidiaSmi, TheModelIsAskedFor) {
  EXPECT_THAT(import_errors(kSmi, kSwitched), ElementsAre("I05"));
  EXPECT_THAT(import_messages(kSmi, kSwitched), HasSubstr("`gpu`, one of p100, v100"));
  EXPECT_THAT(import_errors(kSmi, kSwitched, {.gpu = "h1000"}), ElementsAre("I04"));
}

TEST(ImportNvidiaSmi, MoreLinksThanTheModelHasAreRefused) {
  EXPECT_THAT(import_errors(kSmi, kSwitched, {.gpu = "a100"}), ElementsAre("I03 2:1"));
  EXPECT_THAT(import_messages(kSmi, kSwitched, {.gpu = "a100"}), HasSubstr("Is `gpu` right?"));
  EXPECT_THAT(import_errors(kSmi, kDirect, {.gpu = "a40"}), ElementsAre("imported"));
  EXPECT_THAT(import_errors(kSmi, with(kDirect, "NV1", "NV9"), {.gpu = "v100"}),
              ElementsAre("I03 2:1"));
}

// Two pairs behind switches of their own, on two sockets or on one.
std::string two_pairs(const std::string& between) {
  const auto row = [&](int gpu) {
    std::string text = fmt::format("GPU{}", gpu);
    for (int other = 0; other < 4; ++other) {
      text += other == gpu ? "\tX" : "\t" + (other / 2 == gpu / 2 ? "PIX" : between);
    }
    return text + "\t0-31\n";
  };
  return "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\n" + row(0) + row(1) + row(2) + row(3);
}

TEST(ImportNvidiaSmi, WithoutNvlinkPcieIsTheWay) {
  const ImportOptions l40s{.gpu = "l40s"};
  // Two shares leave each socket by the CPUs' link, of which nothing is known.
  const Imported imported = import_valid(kSmi, two_pairs("SYS"), l40s);
  EXPECT_EQ(allgather(import_fabric(kSmi, two_pairs("SYS"), l40s)), Ratio(4 * 6, 2));
  EXPECT_THAT(imported.report.guesses,
              AllOf(Contains(HasSubstr("nvidia-smi does not name the CPUs: 6 GB/s")),
                    Contains(HasSubstr("is that of the l40s"))));
  EXPECT_THAT(imported.report.joined_by_pcie, ::testing::SizeIs(4));
  EXPECT_THAT(imported.document.metadata,
              Contains(Pair("pcie", HasSubstr("any two of the 4 GPUs: PCIe and the CPUs"))));
  EXPECT_EQ(allgather(import_fabric(kSmi, two_pairs("SYS"),
                                    {.bandwidths = {{"cpu", Ratio(12)}}, .gpu = "l40s"})),
            Ratio(4 * 12, 2));
  // On one socket, each GPU's slot brings what the three others own.
  for (const char* way : {"PHB", "NODE", "PXB"}) {
    EXPECT_EQ(allgather(import_fabric(kSmi, two_pairs(way), l40s)), Ratio(4 * 24, 3)) << way;
  }
  EXPECT_THAT(arcs_of(import_fabric(kSmi, two_pairs("NODE"), l40s)),
              Contains("box0/pcie0 -> box0/pcie1 24"));
  // Two on the CPU itself.
  const std::string pair = "GPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X\n";
  EXPECT_EQ(allgather(import_fabric(kSmi, pair, {.gpu = "t4"})), Ratio(2 * 12));
  EXPECT_EQ(allgather(import_fabric(kSmi, "GPU0 GPU1\nGPU0 X SYS\nGPU1 SYS X\n", {.gpu = "t4"})),
            Ratio(2 * 6));
}

// PHB: both pairs are behind one host bridge, which they need not leave. NODE: each is behind its
// own, and what two GPUs own goes up from it.
TEST(ImportNvidiaSmi, DevicesBehindOneHostBridgeShareItsBandwidth) {
  const ImportOptions l40s{.bandwidths = {{"host-bridge", Ratio(10)}}, .gpu = "l40s"};
  EXPECT_EQ(allgather(import_fabric(kSmi, two_pairs("PHB"), l40s)), Ratio(4 * 24, 3));
  EXPECT_EQ(allgather(import_fabric(kSmi, two_pairs("NODE"), l40s)), Ratio(4 * 10, 2));
}

// Two GPUs that NVLink joins, each with the CPU between it and the NICs, which share a host bridge.
TEST(ImportNvidiaSmi, NicsBehindOneHostBridgeShareItsBandwidth) {
  const auto matrix = [](const std::string& nics) {
    return "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\n"
           "GPU0\t X \tNV12\tNODE\tNODE\t0-31\nGPU1\tNV12\t X \tNODE\tNODE\t0-31\n"
           "NIC0\tNODE\tNODE\t X \t" +
           nics + "\nNIC1\tNODE\tNODE\t" + nics + "\t X \n";
  };
  ImportOptions options{.gpu = "a100", .nic_bandwidth = Ratio(25), .boxes = 2, .fabric = "single"};
  EXPECT_EQ(allgather(import_fabric(kSmi, matrix("PHB"), options)), Ratio(2 * 48));
  options.bandwidths = {{"host-bridge", Ratio(30)}};
  EXPECT_EQ(allgather(import_fabric(kSmi, matrix("PHB"), options)), Ratio(2 * 30));
  EXPECT_EQ(allgather(import_fabric(kSmi, matrix("NODE"), options)), Ratio(2 * 48));
}

TEST(ImportNvidiaSmi, NoLinkBetweenCpusIsSizedWhereNoneIsDrawn) {
  ImportOptions options{.bandwidths = {{"cpu", Ratio(10)}}, .gpu = "h100"};
  EXPECT_THAT(import_errors(kSmi, kSwitched, options), ElementsAre("I08"));
  options.pcie_p2p = true;
  EXPECT_THAT(import_errors(kSmi, kSwitched, options), ElementsAre("imported"));
}

TEST(ImportNvidiaSmi, PcieIsDoubtfulWhereTheModelHasNvlink) {
  const auto remark = [](const std::string& gpu) {
    const Imported imported = import_valid(kSmi, two_pairs("SYS"), {.gpu = gpu});
    const auto told = report_findings(imported.report, {}, "matrix");
    EXPECT_EQ(told[0].code, Code::I25);
    return told[0].message + " " + told[0].remedy;
  };
  EXPECT_THAT(remark("h100"),
              AllOf(HasSubstr("; but the h100 may have 18 NVLinks, and the matrix shows none"),
                    HasSubstr("`nvswitch=450` ")));
  EXPECT_THAT(remark("l4"), Not(HasSubstr("NVLinks")));
}

TEST(ImportNvidiaSmi, PcieCanBeAWayBesideNvlink) {
  const ImportOptions beside{.pcie_p2p = true};
  ImportOptions options = beside;
  options.gpu = "h100";
  options.bandwidths = {{"cpu", Ratio(96)}};
  // 450 of NVLink and 48 of the slot for the three others' shares.
  EXPECT_EQ(allgather(import_fabric(kSmi, kSwitched, options)), Ratio(4 * 498, 3));
}

TEST(ImportNvidiaSmi, BrokenMatricesAreRefusedWithTheirPlace) {
  const ImportOptions v100{.gpu = "v100"};
  const auto errors = [&](const std::string& what, const std::string& by) {
    return import_errors(kSmi, with(kDirect, what, by), v100);
  };
  EXPECT_THAT(errors("GPU2\tNV2\tNV2\t X \tSOC\t20-39\n", ""), ElementsAre("I02 5:1"));
  EXPECT_THAT(errors("\t X \tSOC\t20-39\n", "\n"), ElementsAre("I02 4:1"));
  EXPECT_THAT(errors("NV1\tNV2\tSOC\t0-19\nGPU1", "NVx\tNV2\tSOC\t0-19\nGPU1"),
              ElementsAre("I03 2:1"));
  EXPECT_THAT(errors("NV1\tNV2\tSOC\t0-19\nGPU1", "X\tNV2\tSOC\t0-19\nGPU1"),
              ElementsAre("I03 2:1"));
  EXPECT_THAT(errors("GPU1\tNV1", "GPU0\tNV1"), Contains("I02 3:1"));
  EXPECT_THAT(errors("\tGPU0\tGPU1\tGPU2\tmlx5_0\tCPU Affinity\n", ""), ElementsAre("I02 1:1"));
  EXPECT_THAT(errors("\tGPU0\tGPU1", "\tGPU0\tGPU0"), ElementsAre("I02 1:1"));
  EXPECT_THAT(errors("GPU2\tmlx5_0\tCPU", "mlx5_0\tGPU2\tCPU"), ElementsAre("I02 1:1"));
  EXPECT_THAT(import_errors(kSmi, kDirect.substr(0, 70), v100), Contains(HasSubstr("I02 ")));
}

TEST(ImportNvidiaSmi, DirectionsThatDifferAreTold) {
  const std::string text = "GPU0 GPU1 GPU2\nGPU0 X NV1 NV2\nGPU1 NV2 X NV2\nGPU2 NV2 NV2 X\n";
  EXPECT_THAT(codes_of(import_valid(kSmi, text, {.gpu = "v100"}).warnings), Contains("I22"));
}

TEST(ImportNvidiaSmi, RocmSmisMatricesAreRefusedByName) {
  const std::string matrix =
      "       GPU0         GPU1\nGPU0   0            XGMI\n"
      "GPU1   XGMI         0\n";
  const std::string title = "================ Link Type between two GPUs ================\n";
  const std::string all = "\n======== ROCm System Management Interface ========\n" + title + matrix;
  EXPECT_EQ(detect_source(all), kSmi);
  EXPECT_EQ(detect_source(title + matrix), kSmi);
  EXPECT_THAT(import_errors(kSmi, all, {.gpu = "a100"}), ElementsAre("I01 2:10"));
  EXPECT_THAT(import_messages(kSmi, all), AllOf(HasSubstr("rocm-smi"), HasSubstr("how wide"),
                                                HasSubstr("NCCL_TOPO_DUMP_FILE")));
  EXPECT_THAT(import_errors(kSmi, matrix + title), ElementsAre(HasSubstr("I01 ")));
}

}  // namespace
}  // namespace forestcoll::testing
