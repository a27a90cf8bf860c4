// NCCL's topology XML: bus ids in all spellings, and links that lead nowhere.
#include "import_testing.hpp"
#include "topology/readers/machines/bus_id.hpp"

namespace forestcoll::testing {
namespace {

TEST(BusId, HasOneSpelling) {
  using importing::canonical_bus;
  for (const char* text : {"0000:1a:00.1", "00000000:1A:00.1", "1a:00.1", "0:1A:0.1"}) {
    EXPECT_EQ(canonical_bus(text), "0000:1a:00.1") << text;
  }
  EXPECT_EQ(canonical_bus("10000:E1:1F.7"), "10000:e1:1f.7");
  for (const char* text : {"", ".", ":", "fffffff:ff:ff", "gpu:0.x", "0000:1a:00", ":1a:00.0"}) {
    EXPECT_EQ(canonical_bus(text), text);
  }
}

// Targets as NVML writes them, 8 digits for the domain and capitals, beside NCCL's own bus ids.
TEST(ImportLinks, TargetsAreFoundInEverySpelling) {
  const std::string text = rccl_dump(8, full_mesh(8), "gfx942");
  std::string spelled = text;
  const std::string narrow = "target=\"0000:", wide = "target=\"00000000:";
  for (std::size_t at = 0; (at = spelled.find(narrow, at)) != std::string::npos;) {
    spelled.replace(at, narrow.size(), wide);
    for (at += wide.size(); spelled[at] != '"'; ++at) {
      spelled[at] = static_cast<char>(std::toupper(spelled[at]));
    }
  }
  ASSERT_NE(spelled, text);
  const Imported imported = import_valid(kNccl, spelled);
  EXPECT_THAT(imported.warnings, IsEmpty());
  EXPECT_EQ(arcs_of(import_fabric(kNccl, spelled)), arcs_of(import_fabric(kNccl, text)));
}

TEST(ImportLinks, EveryGpuHasABusIdOfItsOwn) {
  const std::string text = with(rccl_dump(2, full_mesh(2), "908"), "busid=\"" + bus_id(1) + "\"",
                                "busid=\"00000000:03:00.0\"");
  EXPECT_THAT(import_errors(kNccl, text), Contains(HasSubstr("I03 ")));
  EXPECT_THAT(import_messages(kNccl, text), HasSubstr("a second GPU has the bus id 0000:03:00.0"));
}

TEST(ImportLinks, ThoseToGpusThatAreNotThereAreAWarning) {
  const std::string text = with(rccl_dump(3, full_mesh(3), "908"), "target=\"" + bus_id(2) + "\"",
                                "target=\"0000:ee:00.0\"");
  const Imported imported = import_valid(kNccl, text);
  EXPECT_THAT(codes_of(imported.warnings), Contains("I21 6:2"));
  EXPECT_THAT(imported.report.left_out,
              Contains("1 xgmi link to GPUs that the file does not have (GPU 0 to 0000:ee:00.0)"));
  // Told once, though the report has it too.
  EXPECT_THAT(codes_of(report_findings(imported.report, imported.warnings, "")),
              ElementsAre("I24"));
  EXPECT_THAT(codes_of(report_findings(imported.report, {}, "")), ElementsAre("I24", "I24"));
}

TEST(ImportLinks, ThoseWithoutACountAreAWarning) {
  const Imported imported =
      import_valid(kNccl, NvswitchDump{.count = {"12", "0", "12", "0"}}.text(), {.pcie_p2p = true});
  EXPECT_THAT(codes_of(imported.warnings), Contains("I21 11:2"));
  EXPECT_THAT(imported.report.left_out, Contains("2 nvlink links with a count of 0 (GPU 1, 3)"));
}

TEST(ImportLinks, OfAGpuToItselfAreAWarning) {
  std::string text = rccl_dump(2, {}, "908");
  text = with(text, "rank=\"0\">",
              "rank=\"0\"><xgmi target=\"" + bus_id(0) + "\" count=\"12\" tclass=\"0x038000\"/>");
  const Imported imported = import_valid(kNccl, text, {.pcie_p2p = true});
  EXPECT_THAT(codes_of(imported.warnings), Contains(HasSubstr("I21 ")));
  EXPECT_THAT(import_messages(kNccl, text),
              AllOf(HasSubstr("no link joins any two of the 2 GPUs"), HasSubstr("`pcie_p2p`"),
                    HasSubstr("left out: 12 xgmi links from a GPU to itself (GPU 0)")));
}

// Where nothing joins the GPUs, what was left out is why.
TEST(ImportLinks, WhatWasLeftOutIsToldWithErrors) {
  std::string text = NvswitchDump{.target = "0000:aa:00.0"}.text();
  for (std::size_t at; (at = text.find(" tclass=\"0x068000\"")) != std::string::npos;) {
    text.erase(at, std::string(" tclass=\"0x068000\"").size());
  }
  EXPECT_THAT(import_errors(kNccl, text), ElementsAre("I07", "I21 6:2"));
  EXPECT_THAT(import_messages(kNccl, text), HasSubstr("left out: 48 nvlink links to GPUs that"));
}

// Links to GPUs that are hidden are no way, and those that are seen reach each other over PCIe.
TEST(ImportLinks, ToHiddenGpusLeavePcie) {
  const std::string text =
      everywhere(rccl_dump(2, {{0, 1, 1}}, "908"), "<xgmi target=\"0000:", "<xgmi target=\"0001:");
  EXPECT_THAT(codes_of(import_valid(kNccl, text).warnings), Contains(HasSubstr("I21 ")));
  EXPECT_EQ(import_valid(kNccl, text).report.joined_by_pcie.size(), 2U);
}

// The slots of cards.

const ImportOptions kRails{.boxes = 2, .fabric = "rail"};

TEST(ImportCards, PortsOfOneCardShareItsSlot) {
  const std::string text =
      with(rccl_dump(2, full_mesh(2), "908"), "speed=\"200000\"/></nic>",
           "speed=\"200000\"/><net name=\"mlx5_9\" dev=\"9\" speed=\"200000\"/></nic>");
  for (const std::string& each : {text, with(text, "busid=\"0000:00:01.0\" ", "")}) {
    const auto arcs = arcs_of(import_fabric(kNccl, each, kRails));
    EXPECT_THAT(arcs, AllOf(Contains("box0/gpu0 -> box0/pcie_out0 24"),
                            Contains("box0/pcie_out0 -> box0/nic_out1 25")));
  }
}

// The same card as two PCI functions: four times 25 GB/s behind two slots of 24 leave a box.
TEST(ImportCards, FunctionsOfOneCardShareItsSlot) {
  std::string text = NvswitchDump{}.text();
  for (const char* bus : {"0000:01:05", "0000:02:05"}) {
    const std::size_t at = text.find(std::string("<pci busid=\"") + bus);
    const std::size_t end = text.find("</pci>", at) + 6;
    const std::string card = text.substr(at, end - at);
    text.insert(end,
                with(with(card, std::string(bus) + ".0", std::string(bus) + ".1"), "mlx5", "b"));
  }
  const Topology fabric = import_fabric(kNccl, text, {.boxes = 2, .fabric = "single"});
  EXPECT_EQ(allgather(fabric), Ratio(2 * 48));
  EXPECT_EQ(allgather(import_fabric(kNccl, with(text, "0000:01:05.1", "0000:01:06.1"),
                                    {.boxes = 2, .fabric = "single"})),
            Ratio(2 * 72));
}

// A virtual function that does not know its link says nothing against the one that does.
TEST(ImportCards, AFunctionThatKnowsItsSlotIsBelieved) {
  const std::string net = "<nic><net name=\"v\" dev=\"9\" speed=\"200000\"/></nic>";
  const std::string text = with(rccl_dump(2, full_mesh(2), "908"), "<pci busid=\"0000:00:01.0\"",
                                "<pci busid=\"0000:00:01.1\" class=\"0x020700\">" + net +
                                    "</pci>\n" + "<pci busid=\"0000:00:01.0\"");
  const Imported imported = import_valid(kNccl, text, kRails);
  EXPECT_THAT(imported.report.guesses, IsEmpty());
  EXPECT_THAT(arcs_of(import_fabric(kNccl, text, kRails)),
              Contains("box0/gpu0 -> box0/pcie_out0 24"));
}

}  // namespace
}  // namespace forestcoll::testing
