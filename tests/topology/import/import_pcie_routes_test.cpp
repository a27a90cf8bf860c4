// Machines whose GPUs, or islands of them, meet over PCIe and the CPUs: the optima are reckoned by
// hand, from the cut that each test names.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

std::string slot(int lanes, const std::string& speed = "16.0 GT/s PCIe") {
  return fmt::format("link_speed=\"{}\" link_width=\"{}\"", speed, lanes);
}

std::string cpu(int numa, const std::string& children, const std::string& vendor = "AuthenticAMD",
                int model = 1) {
  return fmt::format(
      "<cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"{}\" familyid=\"{}\" modelid=\"{}\">\n{}"
      "</cpu>\n",
      numa, vendor, vendor == "GenuineIntel" ? 6 : 175, model, children);
}

std::string pcie_switch(int number, const std::string& up, const std::string& children) {
  return fmt::format("<pci busid=\"0000:{:02x}:00.0\" class=\"0x060400\" {}>\n{}</pci>\n",
                     0xd0 + number, up, children);
}

/// GPUs without links of their own.
std::string gpus(int first, int count, const std::string& where) {
  std::string text;
  for (int gpu = first; gpu < first + count; ++gpu) {
    text += fmt::format(
        "<pci busid=\"{0}\" class=\"0x030200\" {1}><gpu dev=\"{2}\" sm=\"89\" rank=\"{2}\" "
        "gdr=\"1\"/></pci>\n",
        bus_id(gpu), where, gpu);
  }
  return text;
}

std::string nccl(const std::string& cpus) {
  return "<system version=\"1\">\n" + cpus + "</system>\n";
}

std::vector<std::string> joined(const std::string& text, const ImportOptions& options = {}) {
  std::vector<std::string> groups;
  for (const auto& group : import_valid(Source::nccl, text, options).report.joined_by_pcie) {
    groups.push_back(fmt::format("{}", fmt::join(compress_ids(group), ",")));
  }
  return groups;
}

// Four GPUs leave a socket through the CPUs' link: 10 / 4 for each, of 8 shares.
TEST(ImportPcieWays, TwoSocketsMeetOverTheCpusLink) {
  const auto socket = [](int n) {
    return cpu(n, pcie_switch(n, slot(16), gpus(4 * n, 4, slot(16))), "GenuineIntel", 85);
  };
  const std::string text = nccl(socket(0) + socket(1));
  const Topology fabric = import_fabric(Source::nccl, text);
  EXPECT_EQ(allgather(fabric), Ratio(20));
  // The CPUs and the links up to them are no wider than the narrowest of them.
  EXPECT_THAT(arcs_of(fabric), AllOf(Contains("box0/pcie0 -> box0/pcie1 10"),
                                     Contains("box0/pcie1 -> box0/pcie0 10"),
                                     Contains("box0/gpu3 -> box0/pcie0 24")));
  EXPECT_THAT(joined(text),
              ElementsAre("gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu5", "gpu6", "gpu7"));
  const Imported imported = import_valid(Source::nccl, text);
  EXPECT_THAT(imported.document.metadata,
              Contains(Pair("pcie", HasSubstr("any two of the 8 GPUs: PCIe and the CPUs"))));
  const auto told = report_findings(imported.report, {}, "dump");
  ASSERT_THAT(codes_of(told), ElementsAre("I25"));
  EXPECT_THAT(told[0].remedy, HasSubstr("`nvswitch="));
}

// What the four GPUs of a switch own leaves through its one link up, of 8 lanes: 12 / 4.
TEST(ImportPcieWays, TheLinkUpOfASwitchIsShared) {
  const auto machine = [](int lanes) {
    return nccl(cpu(0, pcie_switch(0, slot(lanes), gpus(0, 4, slot(16))) +
                           pcie_switch(1, slot(lanes), gpus(4, 4, slot(16)))));
  };
  EXPECT_EQ(allgather(import_fabric(Source::nccl, machine(8))), Ratio(24));
  // With 16 lanes, each GPU's own slot brings what the seven others own: 24 / 7 < 24 / 4.
  EXPECT_EQ(allgather(import_fabric(Source::nccl, machine(16))), Ratio(8 * 24, 7));
}

TEST(ImportPcieWays, SwitchesBelowSwitchesKeepTheirLinks) {
  // The upper switch has one link of 4 lanes up: 6 / 4; the lower ones 16.
  const auto half = [](int n) {
    return pcie_switch(3 * n, slot(4),
                       pcie_switch(3 * n + 1, slot(16), gpus(4 * n, 2, slot(16))) +
                           pcie_switch(3 * n + 2, slot(16), gpus(4 * n + 2, 2, slot(16))));
  };
  EXPECT_EQ(allgather(import_fabric(Source::nccl, nccl(cpu(0, half(0) + half(1))))), Ratio(12));
}

// The narrower slot bounds both ways of a pair: 12 for the one share that each receives.
TEST(ImportPcieWays, AWorkstationHasNoPcieSwitch) {
  const std::string pair = nccl(cpu(0, gpus(0, 1, slot(16)) + gpus(1, 1, slot(8))));
  EXPECT_EQ(allgather(import_fabric(Source::nccl, pair)), Ratio(24));
  EXPECT_THAT(arcs_of(import_fabric(Source::nccl, pair)),
              ElementsAre("box0/gpu0 -> box0/gpu1 12", "box0/gpu1 -> box0/gpu0 12"));
  // Four on the CPU: 12 for the three shares of the others.
  const std::string four = nccl(cpu(0, gpus(0, 4, slot(16, "8 GT/s"))));
  EXPECT_EQ(allgather(import_fabric(Source::nccl, four)), Ratio(16));
}

// Two hives of four, one on each socket: 4 · 24 / 4 would leave by xGMI, and 16 / 4 leaves.
std::string two_hives() {
  std::string text = "<system version=\"2\">\n";
  for (int hive = 0; hive < 2; ++hive) {
    std::string children;
    for (int gpu = 4 * hive; gpu < 4 * hive + 4; ++gpu) {
      children += fmt::format(
          "<pci busid=\"{0}\" class=\"0x038000\" {1}><gpu dev=\"{2}\" gcn=\"908\" rank=\"{2}\">\n",
          bus_id(gpu), slot(16), gpu);
      for (int peer = 4 * hive; peer < 4 * hive + 4; ++peer) {
        if (peer == gpu) continue;
        children +=
            fmt::format("<xgmi target=\"{}\" count=\"1\" tclass=\"0x038000\"/>\n", bus_id(peer));
      }
      children += "</gpu></pci>\n";
    }
    text += cpu(hive, children);
  }
  return text + "</system>\n";
}

TEST(ImportPcieWays, TwoHivesMeetOverTheSockets) {
  EXPECT_EQ(allgather(import_fabric(Source::nccl, two_hives())), Ratio(8 * 16, 4));
  EXPECT_THAT(joined(two_hives()), ElementsAre("gpu[0-3]", "gpu[4-7]"));
  EXPECT_THAT(import_valid(Source::nccl, two_hives()).document.metadata,
              Contains(Pair("pcie", HasSubstr("joins gpu[0-3] and gpu[4-7]: PCIe"))));
}

// A cluster of such boxes joins the hives inside as well.
TEST(ImportPcieWays, BoxesOfAClusterTakePcieToo) {
  const std::string text =
      with(with(two_hives(), "</cpu>",
                "<nic><net name=\"a\" dev=\"0\" speed=\"100000\" port=\"1\"/></nic></cpu>"),
           "</cpu>\n</system>",
           "<nic><net name=\"b\" dev=\"1\" speed=\"100000\" port=\"1\"/></nic></cpu>\n</system>");
  const auto arcs = arcs_of(import_fabric(Source::nccl, text, {.boxes = 2, .fabric = "rail"}));
  EXPECT_THAT(arcs,
              AllOf(Contains("box1/cpu0 -> box1/cpu1 16"), Contains("box1/gpu7 -> box1/cpu1 24"),
                    Contains("box0/nic1 -> rail1 25/2")));
}

// Where NVLink joins all GPUs, PCIe is no way between them, and with the option it is one beside.
TEST(ImportPcieWays, PcieStaysOutWhereNvlinkJoinsAll) {
  const std::string text = NvswitchDump{}.text();
  EXPECT_THAT(joined(text), IsEmpty());
  EXPECT_EQ(allgather(import_fabric(Source::nccl, text)), Ratio(4 * 240, 3));
  EXPECT_EQ(allgather(import_fabric(Source::nccl, text, {.pcie_p2p = true})), Ratio(4 * 264, 3));
  EXPECT_THAT(joined(text, {.pcie_p2p = true}), IsEmpty());
}

TEST(ImportPcieWays, OneGpuWithoutNvlinkIsReachedOverPcie) {
  std::string text = NvswitchDump{}.text();
  const std::size_t at = text.rfind("<nvlink");
  text.erase(at, text.find('\n', at) - at);
  EXPECT_THAT(joined(text), ElementsAre("gpu[0-2]", "gpu3"));
  // Three shares come in through the slot of the last GPU.
  EXPECT_EQ(allgather(import_fabric(Source::nccl, text)), Ratio(4 * 24, 3));
}

// Files that leave the NVLinks out look like those of cards, but for the number of the part.
TEST(ImportPcieWays, ModulesWithoutNvlinkAreDoubtful) {
  const auto told = [](const std::string& sm, const std::string& device) {
    std::string text = nccl(cpu(0, gpus(0, 8, slot(16, "32.0 GT/s PCIe"))));
    for (std::size_t at = 0; (at = text.find("sm=\"89\"", at)) != std::string::npos; ++at) {
      text.replace(at, 7, "sm=\"" + sm + "\"");
    }
    for (std::size_t at = 0; (at = text.find("class=\"0x030200\"", at)) != std::string::npos;
         ++at) {
      if (!device.empty()) text.insert(at, "device=\"" + device + "\" ");
      at += device.size() + 12;
    }
    const auto findings = report_findings(import_valid(Source::nccl, text).report, {}, "dump");
    EXPECT_EQ(findings[0].code, Code::I25);
    return findings[0].message + " " + findings[0].remedy;
  };
  EXPECT_THAT(
      told("90", "0x2330"),
      AllOf(HasSubstr("; but by its device id 0x2330 GPU 0 is of type H100 SXM5, which has NVLink, "
                      "and the file has none"),
            HasSubstr("`nvswitch=450` (GB/s of each GPU to the NVSwitches), or `box=dgx-h100`")));
  EXPECT_THAT(told("80", "0x20B2"), AllOf(HasSubstr("A100 SXM4"), HasSubstr("nvswitch=300"),
                                          HasSubstr("`box=dgx-a100`")));
  EXPECT_THAT(told("70", "0x1db5"),
              AllOf(HasSubstr("V100 SXM2"), HasSubstr("nvswitch=150"), HasSubstr("`box=dgx-1v`")));
  EXPECT_THAT(told("80", "0x20f3"),
              AllOf(HasSubstr("A800 SXM4"), HasSubstr("nvswitch=200"), HasSubstr("`box=NAME`")));
  EXPECT_THAT(told("100", ""), AllOf(HasSubstr("GPUs of sm=100"), HasSubstr("nvswitch=900"),
                                     HasSubstr("`box=dgx-b200`")));
  EXPECT_THAT(told("103", ""), HasSubstr("`box=dgx-b300`"));
  EXPECT_THAT(told("90", ""),
              AllOf(HasSubstr("most GPUs of sm=90 have NVLink"), HasSubstr("nvswitch=450")));
  EXPECT_THAT(told("90", "0x2331"), Not(HasSubstr("NVLink, and")));  // the card
  EXPECT_THAT(told("89", ""), Not(HasSubstr("; but")));
}

// A virtual machine's 0.19 GB/s are taken for PCIe 3 x16, and that is said.
TEST(ImportPcieWays, AVirtualSlotIsNotTheBottleneck) {
  std::string text = NvswitchDump{.pcie = slot(1, "2.5 GT/s")}.text();
  for (std::size_t at; (at = text.find("<nvlink")) != std::string::npos;) {
    text.erase(at, text.find('\n', at) - at);
  }
  EXPECT_EQ(allgather(import_fabric(Source::nccl, text)), Ratio(4 * 12, 3));
  EXPECT_THAT(import_valid(Source::nccl, text).report.guesses,
              Contains(AllOf(HasSubstr("virtual machines"), HasSubstr("assumed 12 GB/s"))));
}

TEST(ImportPcieWays, RadeonsThatRcclDoesNotKnowHaveItsConstant) {
  EXPECT_EQ(allgather(import_fabric(Source::nccl, rccl_dump(4, full_mesh(4), "906"))), Ratio(96));
  EXPECT_EQ(allgather(import_fabric(Source::nccl, rccl_dump(4, full_mesh(4), "gfx906:xnack-"))),
            Ratio(96));
  EXPECT_EQ(allgather(import_fabric(Source::nccl, rccl_dump(4, full_mesh(4), "906"),
                                    {.constants = LinkConstants::nominal})),
            Ratio(4 * 46));
  const std::string unknown = rccl_dump(4, full_mesh(4), "gfx1100");
  EXPECT_EQ(allgather(import_fabric(Source::nccl, unknown)), Ratio(96));
  EXPECT_THAT(import_valid(Source::nccl, unknown).report.guesses,
              ElementsAre("xgmi of \"gfx1100\" has 24 GB/s: RCCL's constant for architectures that "
                          "it does not know"));
  // The vendor's figure is not known.
  EXPECT_THAT(import_errors(Source::nccl, unknown, {.constants = LinkConstants::nominal}),
              ElementsAre(HasSubstr("I04 ")));
  EXPECT_THAT(import_errors(Source::nccl, rccl_dump(4, full_mesh(4), "")),
              ElementsAre(HasSubstr("I04 ")));
}

}  // namespace
}  // namespace forestcoll::testing
