// hwloc's XML with the bandwidths of links.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

const Source kHwloc = Source::hwloc;

// Four GPUs and two NVSwitches: each GPU has 50 GB/s to its switch, the switches 100 between them.
std::string machine(const std::string& matrix) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
      "<topology version=\"3.0\">\n<object type=\"Machine\">\n";
  for (int package = 0; package < 2; ++package) {
    text += "<object type=\"Package\">\n<object type=\"Bridge\" bridge_type=\"0-1\">\n";
    for (int gpu = 2 * package; gpu < 2 * package + 2; ++gpu) {
      text += fmt::format(
          "<object type=\"PCIDev\" gp_index=\"{0}\" pci_busid=\"0000:1{1}:00.0\" "
          "pci_type=\"0302 [10de:1db8]\" pci_link_speed=\"15.75\">\n"
          "<object type=\"OSDev\" gp_index=\"{2}\" name=\"nvml{1}\" osdev_type=\"12\"/></object>\n",
          100 + gpu, gpu, 200 + gpu);
    }
    text += fmt::format(
        "<object type=\"PCIDev\" gp_index=\"{0}\" subtype=\"NVSwitch\" "
        "pci_busid=\"0000:2{1}:00.0\" pci_type=\"0680 [10de:1ac2]\"/>\n"
        "<object type=\"PCIDev\" gp_index=\"{2}\" pci_busid=\"0000:3{1}:00.0\" "
        "pci_type=\"0207 [15b3:1017]\" pci_link_speed=\"15.75\">"
        "<object type=\"OSDev\" name=\"mlx5_{1}\"><info name=\"NodeGUID\" value=\"1\"/></object>"
        "</object>\n"
        "<object type=\"PCIDev\" gp_index=\"{3}\" pci_busid=\"0000:4{1}:00.0\" "
        "pci_type=\"0200 [8086:1521]\"><object type=\"OSDev\" name=\"eno{1}\"/></object>\n"
        "</object>\n</object>\n",
        300 + package, package, 400 + package, 500 + package);
  }
  return text + "</object>\n" + matrix + "</topology>\n";
}

const std::string kMatrix =
    "<distances2hetero nbobjs=\"6\" kind=\"25\" name=\"NVLinkBandwidth\">\n"
    "<indexes length=\"50\">OSDev:200 OSDev:201 OSDev:202 OSDev:203 </indexes>\n"
    "<indexes length=\"24\">PCIDev:300 PCIDev:301 </indexes>\n"
    "<u64values length=\"36\">1000000 0 0 0 50000 0 0 1000000 0 0 50000 0 </u64values>\n"
    "<u64values length=\"36\">0 0 1000000 0 0 50000 0 0 0 1000000 0 50000 </u64values>\n"
    "<u64values length=\"36\">50000 50000 0 0 0 100000 0 0 50000 50000 100000 0 </u64values>\n"
    "</distances2hetero>\n";

TEST(ImportHwloc, TheMatrixHoldsTheBandwidths) {
  const Topology fabric = import_fabric(kHwloc, machine(kMatrix));
  EXPECT_EQ(fabric.ranks.size(), 4U);
  EXPECT_THAT(arcs_of(fabric), Contains("box0/gpu3 -> box0/nvsw 50"));
  EXPECT_EQ(allgather(fabric), Ratio(200, 3));
  EXPECT_THAT(import_valid(kHwloc, machine(kMatrix)).report.left_out,
              Contains(HasSubstr("links between NVSwitches")));
}

TEST(ImportHwloc, BoardsThatNothingJoinsAreOneByAGuess) {
  EXPECT_THAT(import_valid(kHwloc, machine(kMatrix)).report.guesses, IsEmpty());
  const std::string apart =
      machine(with(with(kMatrix, "0 0 0 100000 ", "0 0 0 0 "), "50000 100000 0 ", "50000 0 0 "));
  EXPECT_THAT(import_valid(kHwloc, apart).report.guesses,
              ElementsAre(HasSubstr("no links between 2 groups")));
  // Kept apart, they are joined by the CPUs alone.
  EXPECT_THAT(import_valid(kHwloc, apart, {.split_nvswitch = true}).report.joined_by_pcie,
              ElementsAre(ElementsAre("gpu0", "gpu1"), ElementsAre("gpu2", "gpu3")));
}

// Without distances nothing is known of NVLink: PCIe is taken where the options say so. Two GPUs
// leave a package through the 6 GB/s of unknown CPUs.
TEST(ImportHwloc, WithoutDistancesTheLinksMustBeGiven) {
  EXPECT_THAT(
      import_messages(kHwloc, machine("")),
      AllOf(HasSubstr("NVLinkBandwidth"), HasSubstr("`nvswitch="), HasSubstr("`pcie_p2p`")));
  EXPECT_EQ(allgather(import_fabric(kHwloc, machine(""), {.pcie_p2p = true})), Ratio(4 * 6, 2));
  EXPECT_EQ(allgather(import_fabric(kHwloc, machine(""), {.nvswitch = Ratio(50)})),
            Ratio(4 * 50, 3));
}

TEST(ImportHwloc, AVirtualSlotIsAGuess) {
  const std::string text = everywhere(machine(""), "\"15.75\"", "\"0.25\"");
  EXPECT_THAT(arcs_of(import_fabric(kHwloc, text, {.pcie_p2p = true})),
              Contains("box0/gpu0 -> box0/cpu0 12"));
  EXPECT_THAT(import_valid(kHwloc, text, {.pcie_p2p = true}).report.guesses,
              Contains(AllOf(HasSubstr("virtual machines"), HasSubstr("12 GB/s"))));
}

TEST(ImportHwloc, NvswitchesCanBeKeptApart) {
  const Topology fabric = import_fabric(kHwloc, machine(kMatrix), {.split_nvswitch = true});
  EXPECT_THAT(arcs_of(fabric), AllOf(Contains("box0/gpu0 -> box0/nvsw0 50"),
                                     Contains("box0/nvsw1 -> box0/nvsw0 100")));
  EXPECT_EQ(allgather(fabric), Ratio(200, 3));
}

TEST(ImportHwloc, XgmiMatricesOfOneTypeHavePlainIndexes) {
  const std::string matrix =
      "<distances2 type=\"OSDev\" nbobjs=\"4\" kind=\"9\" name=\"XGMIBandwidth\" "
      "indexing=\"gp\"><indexes>200 201 202 203 </indexes><u64values>0 50000 50000 50000 "
      "50000 0 50000 50000 50000 50000 0 50000 50000 50000 50000 0 </u64values></distances2>";
  const Topology fabric = import_fabric(kHwloc, machine(matrix));
  EXPECT_EQ(allgather(fabric), Ratio(200));
  EXPECT_EQ(fabric.links[LinkId(0)].kind, "xgmi");
}

TEST(ImportHwloc, NicsForTheFabricAreThoseOfOpenFabrics) {
  const ImportOptions options{.nic_bandwidth = Ratio(10), .boxes = 2, .fabric = "rail"};
  const Imported imported = import_valid(kHwloc, machine(kMatrix), options);
  EXPECT_THAT(imported.report.left_out, Contains(HasSubstr("eno0, eno1")));
  EXPECT_THAT(imported.document.metadata, Contains(std::pair("nic1", "mlx5_1")));
  EXPECT_THAT(arcs_of(import_fabric(kHwloc, machine(kMatrix), options)),
              Contains("box0/gpu0 -> box0/cpu_out0 63/4"));
  EXPECT_THAT(import_errors(kHwloc, machine(kMatrix), {.boxes = 2, .fabric = "rail"}),
              ElementsAre(HasSubstr("I05 ")));
}

TEST(ImportHwloc, AMatrixThatDiffersByDirectionIsTold) {
  const std::string text =
      machine(with(kMatrix, "50000 50000 0 0 0 100000", "25000 50000 0 0 0 100000"));
  EXPECT_THAT(codes_of(import_valid(kHwloc, text).warnings), Contains("I22"));
  EXPECT_THAT(arcs_of(import_fabric(kHwloc, text)), Contains("box0/gpu0 -> box0/nvsw 25"));
}

// A second matrix may repeat the first, and adds nothing then.
TEST(ImportHwloc, MatricesOfOneNameMustAgree) {
  EXPECT_EQ(arcs_of(import_fabric(kHwloc, machine(kMatrix + kMatrix))),
            arcs_of(import_fabric(kHwloc, machine(kMatrix))));
  const std::string other = with(kMatrix, "50000", "25000");
  EXPECT_THAT(import_errors(kHwloc, machine(kMatrix + other)), Contains(HasSubstr("I03 ")));
  EXPECT_THAT(import_messages(kHwloc, machine(kMatrix + other)),
              HasSubstr("25000 MB/s between two devices that have 50000 MB/s above"));
}

TEST(ImportHwloc, CountsOfLinksAreNoBandwidths) {
  const std::string counts =
      "<distances2 type=\"OSDev\" nbobjs=\"4\" kind=\"9\" name=\"XGMIBandwidth\" "
      "indexing=\"gp\"><indexes>200 201 202 203 </indexes><u64values>9999 1 2 1 1 9999 1 2 "
      "2 1 9999 1 1 2 1 9999 </u64values></distances2>";
  EXPECT_THAT(import_errors(kHwloc, machine(counts)), Contains(HasSubstr("I03 ")));
  EXPECT_THAT(import_messages(kHwloc, machine(counts)), HasSubstr("counts of links"));
  const std::string latencies = with(kMatrix, "kind=\"25\"", "kind=\"21\"");
  EXPECT_THAT(import_messages(kHwloc, machine(latencies)), HasSubstr("none of bandwidths"));
}

// POWER has NVLinks between GPUs and packages.
TEST(ImportHwloc, PackagesAreOnTheNvlinks) {
  const std::string matrix =
      "<distances2hetero nbobjs=\"6\" kind=\"25\" name=\"NVLinkBandwidth\"><indexes>OSDev:200 "
      "OSDev:201 OSDev:202 OSDev:203 Package:2 Package:3 </indexes><u64values>"
      "0 75000 0 0 75000 0 75000 0 0 0 75000 0 0 0 0 75000 0 75000 0 0 75000 0 0 75000 "
      "75000 75000 0 0 0 0 0 0 75000 75000 0 0 </u64values></distances2hetero>";
  std::string text = machine(matrix);
  for (const char* package : {"\"2\"", "\"3\""}) {
    text = with(text, "<object type=\"Package\">",
                std::string("<object type=\"Package\" gp_index=") + package + ">");
  }
  EXPECT_THAT(import_valid(kHwloc, text).report.guesses,
              Contains(HasSubstr("6 GB/s between CPUs")));
  text = with(text, "<object type=\"Machine\">",
              "<object type=\"Machine\"><info name=\"Architecture\" value=\"ppc64le\"/>");
  EXPECT_THAT(import_valid(kHwloc, text).report.guesses, Not(Contains(HasSubstr("CPUs"))));
  const Topology fabric = import_fabric(kHwloc, text);
  EXPECT_THAT(
      arcs_of(fabric),
      AllOf(Contains("box0/gpu0 -> box0/gpu1 75"), Contains("box0/gpu0 -> box0/socket0 75"),
            Contains("box0/socket1 -> box0/gpu3 75"), Contains("box0/socket0 -> box0/socket1 32")));
  // Two GPUs leave their half of the machine through the link between the packages.
  EXPECT_EQ(allgather(fabric), Ratio(64));
}

// 16 lanes of PCIe 3 are 1024/65 GB/s; six decimals of it would make k a matter of millions.
TEST(ImportHwloc, PcieSpeedsAreExact) {
  std::string text = machine(kMatrix);
  for (std::size_t at; (at = text.find("\"15.75\"")) != std::string::npos;) {
    text.replace(at, 7, "\"15.753846\"");
  }
  const ImportOptions options{.nic_bandwidth = Ratio(25), .boxes = 2, .fabric = "single"};
  EXPECT_THAT(arcs_of(import_fabric(kHwloc, text, options)),
              Contains("box0/gpu0 -> box0/cpu_out0 1024/65"));
}

TEST(ImportHwloc, FunctionsOfOneCardShareItsSlot) {
  std::string text = machine(kMatrix);
  for (const char* bus : {"0000:30:00", "0000:31:00"}) {
    const std::size_t at = text.rfind("<object", text.find(std::string(bus) + ".0"));
    const std::size_t end = text.find("</object>\n", at) + 10;
    const std::string card = text.substr(at, end - at);
    text.insert(end, with(card, std::string(bus) + ".0", std::string(bus) + ".1"));
  }
  const ImportOptions options{.nic_bandwidth = Ratio(25), .boxes = 2, .fabric = "single"};
  EXPECT_THAT(import_valid(kHwloc, text, options).report.understood, Contains("4 NICs of 25 GB/s"));
  // Two slots of 15.75 GB/s.
  EXPECT_EQ(allgather(import_fabric(kHwloc, text, options)), Ratio(2 * 63, 2));
}

// The machine with both NICs behind a second host bridge of the first package.
std::string with_nics_behind_one_bridge() {
  std::string text = machine(kMatrix);
  std::string cards;
  for (const char* bus : {"0000:30:00.0", "0000:31:00.0"}) {
    const std::size_t at = text.rfind("<object", text.find(bus));
    const std::size_t end = text.find("</object>\n", at) + 10;
    cards += text.substr(at, end - at);
    text.erase(at, end - at);
  }
  return with(text, "<object type=\"Package\">\n",
              "<object type=\"Package\">\n<object type=\"Bridge\" bridge_type=\"0-1\" "
              "bridge_pci=\"0000:[30-3f]\">\n" +
                  cards + "</object>\n");
}

// Each NIC has 15.75 GB/s of PCIe, and what half of the GPUs own goes through both.
TEST(ImportHwloc, DevicesBehindOneHostBridgeShareItsBandwidth) {
  const std::string text = with_nics_behind_one_bridge();
  ImportOptions options{.nic_bandwidth = Ratio(15), .boxes = 2, .fabric = "single"};
  EXPECT_EQ(allgather(import_fabric(kHwloc, text, options)), Ratio(2 * 30)) << "not limited";
  options.bandwidths = {{"host-bridge", Ratio(18)}};
  EXPECT_EQ(allgather(import_fabric(kHwloc, text, options)), Ratio(2 * 18));
  // Behind host bridges of their own, with two GPUs each, nothing goes up to the CPU.
  EXPECT_EQ(allgather(import_fabric(kHwloc, machine(kMatrix), options)), Ratio(2 * 30));
  EXPECT_THAT(import_errors(kNccl, NvswitchDump{}.text(), {.bandwidths = options.bandwidths}),
              ElementsAre("I08"));
}

TEST(ImportHwloc, BrokenFilesAreRefused) {
  EXPECT_THAT(import_errors(kHwloc, machine("")), ElementsAre("I07", "I24", "I23"));
  EXPECT_THAT(import_errors(kHwloc, machine(with(kMatrix, "1000000 0 0 0 50000 0 ", ""))),
              ElementsAre(HasSubstr("I02 ")));
  EXPECT_THAT(import_messages(kHwloc, machine(with(kMatrix, "1000000 0 0 0 50000 0 ", ""))),
              HasSubstr("30 bandwidths for 6 devices"));
  EXPECT_THAT(import_errors(kHwloc, machine(with(kMatrix, "50000", "5e4"))),
              ElementsAre(HasSubstr("I03 ")));
  EXPECT_THAT(import_errors(kHwloc, machine(with(kMatrix, "50000", "999999999999"))),
              ElementsAre(HasSubstr("I03 ")));
  EXPECT_THAT(import_errors(kHwloc, machine(with(kMatrix, "OSDev:200", "OSDev:999"))),
              ElementsAre(HasSubstr("I02 ")));
  EXPECT_THAT(import_errors(kHwloc, "<topology><object type=\"Machine\"/></topology>"),
              ElementsAre(HasSubstr("I06 ")));
  EXPECT_THAT(import_errors(kHwloc, with(machine(kMatrix), "nvml1", "nvml0")),
              Contains(HasSubstr("I03 ")));
  EXPECT_THAT(import_errors(kHwloc, "<system/>"), ElementsAre("I01"));
  EXPECT_THAT(import_errors(kHwloc, machine(kMatrix).substr(0, 900)),
              ElementsAre(HasSubstr("I02 ")));
}

}  // namespace
}  // namespace forestcoll::testing
