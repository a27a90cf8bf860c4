// NCCL's and RCCL's topology XML: what every rule makes of it.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

// Eight modules of two dies, as RCCL's models have them.
const std::vector<Count> kSixteenDies = {
    {0, 1, 4},  {0, 2, 1},  {0, 4, 2},   {1, 2, 1},   {1, 3, 1},   {1, 5, 1},   {2, 3, 4},
    {2, 6, 1},  {3, 7, 2},  {4, 5, 4},   {4, 12, 1},  {5, 13, 1},  {5, 14, 1},  {6, 7, 4},
    {6, 13, 1}, {6, 14, 1}, {7, 15, 1},  {8, 9, 4},   {8, 10, 1},  {8, 12, 2},  {9, 10, 1},
    {9, 11, 1}, {9, 13, 1}, {10, 11, 4}, {10, 14, 1}, {11, 15, 2}, {12, 13, 4}, {14, 15, 4}};
const std::vector<Count> kEightDies = {{0, 1, 4}, {0, 4, 2}, {0, 6, 1}, {1, 3, 1},
                                       {1, 7, 1}, {2, 3, 4}, {2, 4, 1}, {2, 6, 2},
                                       {3, 5, 1}, {4, 5, 4}, {5, 7, 1}, {6, 7, 4}};

TEST(ImportNccl, KnownOptimaOfXgmiMachines) {
  EXPECT_EQ(allgather(import_fabric(kNccl, rccl_dump(16, kSixteenDies, "910"))), Ratio(1728, 7));
  EXPECT_EQ(allgather(import_fabric(kNccl, rccl_dump(8, kEightDies, "910"))), Ratio(240));
  EXPECT_EQ(allgather(import_fabric(kNccl, rccl_dump(8, full_mesh(8), "gfx942"))), Ratio(384));
  EXPECT_EQ(allgather(import_fabric(kNccl, rccl_dump(4, full_mesh(4), "940"))), Ratio(192));
}

TEST(ImportNccl, NominalBandwidthsAreTheVendors) {
  const ImportOptions nominal{.constants = LinkConstants::nominal};
  EXPECT_EQ(allgather(import_fabric(kNccl, rccl_dump(4, full_mesh(4), "gfx90a"), nominal)),
            Ratio(200));
  EXPECT_EQ(allgather(import_fabric(kNccl, NvswitchDump{}.text(), nominal)), Ratio(400));
  EXPECT_EQ(allgather(import_fabric(kNccl, NvswitchDump{}.text())), Ratio(320));
}

TEST(ImportNccl, EveryGenerationHasItsConstants) {
  const std::vector<std::tuple<std::string, Ratio, Ratio>> known = {{"60", 18, 20},
                                                                    {"70", 20, 25},
                                                                    {"75", 20, 25},
                                                                    {"80", 20, 25},
                                                                    {"86", 12, 14},
                                                                    {"90", Ratio(206, 10), 25},
                                                                    {"100", Ratio(401, 10), 50},
                                                                    {"103", Ratio(401, 10), 50}};
  for (const auto& [sm, nccl, nominal] : known) {
    const std::string text = NvswitchDump{.sm = sm}.text();
    EXPECT_EQ(allgather(import_fabric(kNccl, text)), nccl * Ratio(16)) << sm;
    EXPECT_EQ(allgather(import_fabric(kNccl, text, {.constants = LinkConstants::nominal})),
              nominal * Ratio(16))
        << sm;
  }
  // What is reckoned and not stated is a guess.
  for (const auto& [constants, guesses] :
       {std::pair(LinkConstants::nominal, 1U), {LinkConstants::by_source, 0U}}) {
    const auto report =
        import_valid(kNccl, rccl_dump(4, full_mesh(4), "gfx908"), {.constants = constants}).report;
    ASSERT_EQ(report.guesses.size(), guesses);
    if (guesses > 0) {
      EXPECT_THAT(report.guesses[0], HasSubstr("xgmi of gfx908 has 46 GB/s: a third of the half"));
    }
  }
  // The MI100's three links have 276 GB/s together, both directions counted: 46 each way.
  for (const auto& [gcn, rccl, amd] : {std::tuple("gfx908", 24, 46),
                                       {"908", 24, 46},
                                       {"gfx90a:sramecc+", 36, 50},
                                       {"910", 36, 50},
                                       {"940", 48, 64},
                                       {"941", 48, 64},
                                       {"gfx942", 48, 64}}) {
    const std::string text = rccl_dump(4, full_mesh(4), gcn);
    EXPECT_EQ(allgather(import_fabric(kNccl, text)), Ratio(4 * rccl)) << gcn;
    EXPECT_EQ(allgather(import_fabric(kNccl, text, {.constants = LinkConstants::nominal})),
              Ratio(4 * amd))
        << gcn;
  }
}

// A link of the MI350 has 153.6 GB/s, both directions counted.
TEST(ImportNccl, TheMi350HasFasterLinksThanRcclPlansWith) {
  const std::string text = rccl_dump(8, full_mesh(8), "gfx950");
  EXPECT_EQ(allgather(import_fabric(kNccl, text)), Ratio(8 * 48));
  EXPECT_THAT(import_valid(kNccl, text).report.guesses, IsEmpty());
  EXPECT_EQ(allgather(import_fabric(kNccl, text, {.constants = LinkConstants::nominal})),
            Ratio(8 * 384, 5));
}

// NCCL plans with its figure of the next lower generation; the boards of 86 have their own.
TEST(ImportNccl, AnUnknownGenerationIsWhatNcclTakesItFor) {
  for (const auto& [sm, bandwidth] : {std::pair("107", Ratio(401, 10)),
                                      {"120", Ratio(401, 10)},
                                      {"95", Ratio(206, 10)},
                                      {"89", Ratio(20)},
                                      {"72", Ratio(20)},
                                      {"61", Ratio(18)},
                                      {"53", Ratio(20)}}) {
    const std::string text = NvswitchDump{.sm = sm}.text();
    EXPECT_EQ(allgather(import_fabric(kNccl, text)), Ratio(16) * bandwidth) << sm;
    EXPECT_THAT(import_valid(kNccl, text).report.guesses,
                Contains(AllOf(HasSubstr(fmt::format("sm={} has", sm)), HasSubstr("NCCL plans"))));
  }
}

TEST(ImportNccl, TheVendorsFigureOfAnUnknownGenerationIsRefusedWithItsPlace) {
  const std::string text = NvswitchDump{.sm = "89"}.text();
  const ImportOptions nominal{.constants = LinkConstants::nominal};
  EXPECT_THAT(import_errors(kNccl, text, nominal), ElementsAre("I04 5:2"));
  EXPECT_THAT(import_messages(kNccl, text, nominal),
              AllOf(HasSubstr("sm=\"89\""), HasSubstr("60, 70, 75"), HasSubstr("`bandwidths=")));
  EXPECT_EQ(allgather(import_fabric(kNccl, text, {.bandwidths = {{"nvlink", Ratio(10)}}})),
            Ratio(160));
}

TEST(ImportNccl, TheVendorsFigureIsThatOfPcieToo) {
  const std::string text = rccl_dump(4, full_mesh(4), "gfx942");
  const auto pcie = [&](LinkConstants constants) {
    return arcs_of(
        import_fabric(kNccl, text, {.constants = constants, .boxes = 2, .fabric = "rail"}));
  };
  EXPECT_THAT(pcie(LinkConstants::by_source), Contains("box0/gpu0 -> box0/nic0 24"));
  EXPECT_THAT(pcie(LinkConstants::nominal), Contains("box0/gpu0 -> box0/nic0 32"));
}

TEST(ImportNccl, TheMachineIsATemplateThatPeopleCanRead) {
  const Imported imported = import_valid(kNccl, NvswitchDump{}.text());
  const auto& document = imported.document;
  ASSERT_EQ(document.templates.size(), 1U);
  ASSERT_EQ(document.boxes.size(), 1U);
  EXPECT_EQ(document.boxes[0].ids, "box0");
  const SectionText& machine = document.templates[0].section;
  ASSERT_EQ(machine.nodes.size(), 2U);
  EXPECT_EQ(machine.nodes[0].ids, "gpu[0-3]");
  EXPECT_EQ(machine.nodes[1].ids, "nvsw");
  ASSERT_EQ(machine.links.size(), 1U);
  EXPECT_EQ(machine.links[0].src, "gpu[0-3]");
  EXPECT_EQ(machine.links[0].count, 12);
  EXPECT_EQ(machine.links[0].bandwidth, "20");
  EXPECT_EQ(machine.links[0].kind, "nvlink");
  EXPECT_THAT(document.metadata, Contains(std::pair("gpu3", bus_id(3) + ", rank 3")));
  EXPECT_THAT(imported.report.understood,
              ElementsAre("4 GPUs",
                          "48 nvlink links of 20 GB/s (assumed: what NCCL plans with for "
                          "sm=80; `bandwidths=nominal` takes the vendor's 25)"));
  EXPECT_THAT(imported.report.left_out, ElementsAre(HasSubstr("2 NICs: mlx5_0, mlx5_1")));
  EXPECT_THAT(imported.report.guesses, IsEmpty());
  EXPECT_THAT(imported.warnings, IsEmpty());
}

TEST(ImportNccl, NvswitchesAreMergedOrSplit) {
  // Each GPU has six links to either NVSwitch.
  std::string text = NvswitchDump{.count = {"6", "6", "6", "6"}, .target = "0000:aa:00.0"}.text();
  for (std::size_t at = 0; (at = text.find("</gpu>", at)) != std::string::npos; at += 80) {
    text.insert(at, "<nvlink target=\"0000:ab:00.0\" count=\"6\" tclass=\"0x068000\"/>");
  }
  const Topology merged = import_fabric(kNccl, text);
  EXPECT_THAT(arcs_of(merged), Contains("box0/gpu0 -> box0/nvsw 240"));
  const Topology split = import_fabric(kNccl, text, {.split_nvswitch = true});
  EXPECT_THAT(arcs_of(split), AllOf(Contains("box0/gpu0 -> box0/nvsw0 120"),
                                    Contains("box0/nvsw1 -> box0/gpu3 120")));
  EXPECT_EQ(allgather(merged), allgather(split));
  EXPECT_THAT(import_errors(kNccl, NvswitchDump{}.text(), {.split_nvswitch = true}),
              Contains(HasSubstr("I08")));
}

TEST(ImportNccl, TheClassOfATargetIsFoundWhereItIsNotWritten) {
  std::string text = NvswitchDump{.target = "0000:aa:00.0"}.text();
  for (std::size_t at; (at = text.find(" tclass=\"0x068000\"")) != std::string::npos;) {
    text.erase(at, std::string(" tclass=\"0x068000\"").size());
  }
  text = with(text, "</cpu>", "<pci busid=\"0000:AA:00.0\" class=\"0x068000\"/></cpu>");
  EXPECT_EQ(allgather(import_fabric(kNccl, text)), Ratio(320));
}

TEST(ImportNccl, RanksOrderTheGpus) {
  const std::string swapped =
      with(with(rccl_dump(2, full_mesh(2), "908"), "rank=\"0\"", "rank=\"7\""), "rank=\"1\"",
           "rank=\"3\"");
  const Topology fabric = import_fabric(kNccl, swapped);
  ASSERT_EQ(fabric.ranks.size(), 2U);
  EXPECT_EQ(fabric.nodes[fabric.ranks[0]].id, "box0/gpu1");
  const std::string twice = with(rccl_dump(2, full_mesh(2), "908"), "rank=\"1\"", "rank=\"0\"");
  EXPECT_THAT(import_valid(kNccl, twice).report.guesses,
              Contains(HasSubstr("for the file gives two of them rank 0")));
}

// NICs and PCIe.

TEST(ImportNccl, AGpuWithANicOfItsOwnHasOneLinkToIt) {
  const Topology fabric =
      import_fabric(kNccl, rccl_dump(2, full_mesh(2), "908"), {.boxes = 2, .fabric = "rail"});
  EXPECT_THAT(arcs_of(fabric),
              AllOf(Contains("box0/gpu0 -> box0/nic0 24"), Contains("box1/nic1 -> box1/gpu1 24"),
                    Contains("box1/nic1 -> rail1 25"), Contains("rail0 -> box0/nic0 25")));
  EXPECT_EQ(fabric.nodes.size(), 2U * 4 + 2);
}

TEST(ImportNccl, PcieAddsNothingBetweenGpus) {
  // 2 GPUs and a NIC on each PCIe switch: with the NVLinks gone, no GPU reaches another in its box.
  const ImportOptions options{.boxes = 2, .fabric = "single"};
  const Topology fabric = import_fabric(kNccl, NvswitchDump{}.text(), options);
  const auto arcs = arcs_of(fabric);
  EXPECT_THAT(
      arcs,
      AllOf(Contains("box0/gpu0 -> box0/pcie_out0 24"),
            Contains("box0/pcie_out0 -> box0/nic_out0 24"), Contains("box0/nic_out0 -> switch0 25"),
            Contains("switch0 -> box0/nic_in0 25"), Contains("box0/nic_in0 -> box0/pcie_in0 24"),
            Contains("box0/pcie_in0 -> box0/gpu1 24")));
  EXPECT_THAT(arcs, Not(Contains(HasSubstr("pcie_out0 -> box0/gpu"))));
  EXPECT_THAT(arcs, Not(Contains(HasSubstr("nic_out0 -> box0"))));
  // Two NICs of 25 behind PCIe links of 24 leave each box.
  EXPECT_EQ(allgather(fabric), Ratio(2 * 48));
}

TEST(ImportNccl, WhatIsWrittenIsReadBackWithoutFindings) {
  for (const std::string fabric : {"rail", "single", "odd-even", "fat-tree:2:2"}) {
    const Imported imported =
        import_valid(kNccl, NvswitchDump{}.text(), {.boxes = 4, .fabric = fabric});
    EXPECT_THAT(codes_of(findings_of(to_topology_json(imported.document))), IsEmpty()) << fabric;
  }
}

TEST(ImportNccl, PcieJoinsGpusThroughSwitchesAndCpus) {
  std::string text = NvswitchDump{}.text();
  for (std::size_t at; (at = text.find("<nvlink")) != std::string::npos;) {
    text.erase(at, text.find('\n', at) - at);
  }
  const Topology fabric = import_fabric(kNccl, text);
  EXPECT_THAT(arcs_of(fabric), AllOf(Contains("box0/gpu0 -> box0/pcie0 24"),
                                     Contains("box0/pcie0 -> box0/pcie1 24")));
  // Each GPU's PCIe link brings what the three others own.
  EXPECT_EQ(allgather(fabric), Ratio(24) * Ratio(4, 3));
}

TEST(ImportNccl, TheLinkBetweenCpusIsThatOfTheirVendor) {
  // PCIe 5 on all sides, so that it is the CPUs' link that counts.
  const auto between = [](const std::string& vendor, const std::string& model,
                          const std::string& family = "6", const std::string& arch = "x86_64") {
    std::string text = with(rccl_dump(2, {}, "908"), "AuthenticAMD", vendor);
    text = with(text, "familyid=\"175\"", "familyid=\"" + family + "\"");
    text = with(text, "modelid=\"1\"", "modelid=\"" + model + "\"");
    text = with(text, "arch=\"x86_64\"", "arch=\"" + arch + "\"");
    for (std::size_t at; (at = text.find("16.0 GT/s")) != std::string::npos;)
      text[at] = '3', text[at + 1] = '2';
    const auto arcs = arcs_of(import_fabric(kNccl, text, {.pcie_p2p = true}));
    return arcs.empty() ? "" : arcs[0].substr(arcs[0].rfind(' ') + 1);
  };
  EXPECT_EQ(between("AuthenticAMD", "1"), "16");
  // Broadwell, Skylake from 0x55, Sapphire Rapids from 0x8F, Emerald Rapids from 0xCF.
  EXPECT_EQ(between("GenuineIntel", "79"), "6");
  EXPECT_EQ(between("GenuineIntel", "84"), "6");
  EXPECT_EQ(between("GenuineIntel", "85"), "10");
  EXPECT_EQ(between("GenuineIntel", "142"), "10");
  EXPECT_EQ(between("GenuineIntel", "143"), "22");
  EXPECT_EQ(between("GenuineIntel", "206"), "22");
  EXPECT_EQ(between("GenuineIntel", "207"), "40");
  EXPECT_EQ(between("GenuineIntel", "207", "15"), "6");
  EXPECT_EQ(between("IBM", "0", "0", "ppc64"), "32");
  EXPECT_EQ(between("ARM", "0", "0", "arm64"), "6");
  const std::string unknown = with(rccl_dump(2, {}, "908"), "AuthenticAMD", "Acme");
  EXPECT_THAT(import_valid(kNccl, unknown, {.pcie_p2p = true}).report.guesses,
              ElementsAre(HasSubstr("6 GB/s between CPUs")));
}

TEST(ImportNccl, PcieSpeedsAreReadByTheirExactText) {
  const auto width = [](const std::string& pcie) {
    const auto arcs = arcs_of(
        import_fabric(kNccl, NvswitchDump{.pcie = pcie}.text(), {.boxes = 2, .fabric = "rail"}));
    for (const std::string& arc : arcs) {
      if (arc.starts_with("box0/gpu0 -> box0/pcie_out0 ")) return arc.substr(28);
    }
    return std::string("none");
  };
  const auto slot = [](const std::string& speed, const std::string& lanes) {
    return "link_speed=\"" + speed + "\" link_width=\"" + lanes + "\"";
  };
  EXPECT_EQ(width(slot("8 GT/s", "16")), "12");
  EXPECT_EQ(width(slot("16.0 GT/s PCIe", "16")), "24");
  EXPECT_EQ(width(slot("32 GT/s", "16")), "48");
  EXPECT_EQ(width(slot("64.0 GT/s PCIe", "16")), "96");
  EXPECT_EQ(width(slot("16 GT/s", "8")), "12");
  EXPECT_EQ(width(slot("5 GT/s", "16")), "6");
  EXPECT_EQ(width(slot("2.5 GT/s", "16")), "3");
  EXPECT_EQ(width(slot("", "0")), "12");
  EXPECT_EQ(width(slot("32 GT/s PCIe/s", "16")), "12");
  EXPECT_EQ(width(slot("2.5 GT/s", "1")), "12");
}

TEST(ImportNccl, GuessedPcieIsToldAsGuessed) {
  const ImportOptions options{.boxes = 2, .fabric = "rail"};
  const auto guesses = [&](const std::string& pcie) {
    return import_valid(kNccl, NvswitchDump{.pcie = pcie}.text(), options).report.guesses;
  };
  EXPECT_THAT(guesses("link_speed=\"\" link_width=\"0\""),
              ElementsAre(AllOf(HasSubstr("neither its speed"), HasSubstr("assumed 12 GB/s"))));
  EXPECT_THAT(guesses("link_speed=\"2.5 GT/s\" link_width=\"1\""),
              ElementsAre(HasSubstr("virtual machines")));
  EXPECT_THAT(guesses("link_speed=\"fast\" link_width=\"16\""),
              ElementsAre(HasSubstr("unknown speed (\"fast\")")));
  EXPECT_THAT(guesses("link_speed=\"16 GT/s\""), ElementsAre(HasSubstr("width")));
  EXPECT_THAT(guesses("link_speed=\"16 GT/s\" link_width=\"16\""), IsEmpty());
  // The file says it too.
  const Imported imported =
      import_valid(kNccl, NvswitchDump{.pcie = "link_speed=\"\" link_width=\"0\""}.text(), options);
  EXPECT_THAT(imported.document.metadata, Contains(Pair("guess 1", HasSubstr("12"))));
}

TEST(ImportNccl, C2cIsAGpusWayToItsCpu) {
  std::string text = rccl_dump(2, full_mesh(2), "908");
  text = with(text, "</gpu>", "<c2c bw=\"44712\" count=\"10\"/></gpu>");
  const auto arcs = arcs_of(import_fabric(kNccl, text, {.boxes = 2, .fabric = "rail"}));
  EXPECT_THAT(arcs, Contains("box0/gpu0 -> box0/nic0 24"));  // the NIC's PCIe is narrower
  const auto p2p = arcs_of(import_fabric(kNccl, text, {.pcie_p2p = true, .boxes = 1}));
  EXPECT_THAT(p2p, Contains("box0/gpu0 -> box0/gpu1 40"));  // xGMI 24 + the CPUs' 16
  EXPECT_THAT(import_errors(kNccl, with(text, "bw=\"44712\"", "bw=\"x\"")),
              Contains(HasSubstr("I03")));
}

TEST(ImportNccl, PowerCpusAreOnTheNvlinks) {
  std::string text = NvswitchDump{.sm = "70", .count = {"3", "3", "3", "3"}}.text();
  for (std::size_t at; (at = text.find("tclass=\"0x068000\"")) != std::string::npos;) {
    text.replace(at, 17, "tclass=\"0x068001\"");
  }
  for (std::size_t at; (at = text.find("fffffff:ff:ff.0")) != std::string::npos;) {
    text.replace(at, 15, "0000:cc:00.0");
  }
  EXPECT_THAT(arcs_of(import_fabric(kNccl, text)), Contains("box0/gpu0 -> box0/socket0 60"));
}

TEST(ImportNccl, ANicWithoutASpeedIsAskedFor) {
  const ImportOptions options{.boxes = 2, .fabric = "rail"};
  for (const std::string speed : {"", "0", "-1", "fast"}) {
    const std::string text = NvswitchDump{.nic_speed = speed}.text();
    EXPECT_THAT(import_errors(kNccl, text, options), ElementsAre(HasSubstr("I05 "))) << speed;
    EXPECT_THAT(import_messages(kNccl, text, options), HasSubstr("`nic_bandwidth")) << speed;
    ImportOptions given = options;
    given.nic_bandwidth = Ratio(10);
    EXPECT_THAT(arcs_of(import_fabric(kNccl, text, given)), Contains("box0/nic_out0 -> rail0 10"));
    EXPECT_EQ(allgather(import_fabric(kNccl, text)), Ratio(320)) << "alone, it needs none";
  }
}

TEST(ImportNccl, ANicOfTwentyFiveTerabytesIsRefusedWhereItMatters) {
  const std::string text = NvswitchDump{.nic_speed = "200000000"}.text();
  const ImportOptions options{.boxes = 2, .fabric = "rail"};
  EXPECT_THAT(import_errors(kNccl, text, options), ElementsAre(HasSubstr("I03 ")));
  EXPECT_THAT(import_messages(kNccl, text, options),
              AllOf(HasSubstr("25000 GB/s"), HasSubstr("mlx5_0, mlx5_1")));
  const Imported alone = import_valid(kNccl, text);
  EXPECT_THAT(codes_of(alone.warnings), ElementsAre(HasSubstr("I21 ")));
  ImportOptions given = options;
  given.nic_bandwidth = Ratio(25);
  EXPECT_EQ(allgather(import_fabric(kNccl, text, given)), Ratio(96));
  given = options;
  given.bandwidths = {{"nic", Ratio(25)}};
  EXPECT_EQ(allgather(import_fabric(kNccl, text, given)), Ratio(96));
}

TEST(ImportNccl, ABoardWhoseGpusDifferByDesignIsNoDegradedOne) {
  const auto codes = [](const std::array<std::string, 4>& counts) {
    return codes_of(import_valid(kNccl, NvswitchDump{.count = counts}.text()).warnings);
  };
  EXPECT_THAT(codes({"12", "11", "12", "11"}), IsEmpty());
  EXPECT_THAT(codes({"11", "11", "12", "11"}), IsEmpty());
  EXPECT_THAT(codes_of(import_valid(kNccl, rccl_dump(8, kEightDies, "910")).warnings), IsEmpty());
}

}  // namespace
}  // namespace forestcoll::testing
