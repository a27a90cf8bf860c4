// NCCL's and RCCL's topology XML: the traps.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

TEST(ImportNcclTraps, SkeletonsAreNumberedByBusIdAndRefusedWithoutLinks) {
  const std::string text =
      "<system version=\"1\"><cpu numaid=\"0\" vendor=\"AuthenticAMD\">\n"
      "<pci busid=\"0003:00:00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\"/>\n"
      "<pci busid=\"0001:00:00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"8\"/>\n"
      "<pci busid=\"0101:00:00.0\" class=\"0x020700\" link_speed=\"16 GT/s\" link_width=\"16\"/>\n"
      "</cpu></system>";
  EXPECT_THAT(import_errors(kNccl, text), ElementsAre("I07", "I23"));
  const Imported imported = import_valid(kNccl, text, {.pcie_p2p = true});
  EXPECT_THAT(imported.report.guesses, ElementsAre(HasSubstr("2 GPUs without a <gpu> element")));
  EXPECT_THAT(imported.document.metadata, Contains(std::pair("gpu0", "0001:00:00.0")));
  EXPECT_THAT(import_errors(kNccl, with(text, "0003:", "0001:")), Contains(HasSubstr("I03 ")));
}

TEST(ImportNcclTraps, NoGpusAtAll) {
  const std::string text =
      "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:45:00.0\">"
      "<pci busid=\"0000:4f:00.0\" link_speed=\"32 GT/s\" link_width=\"16\"/></pci></cpu></system>";
  EXPECT_THAT(import_errors(kNccl, text), ElementsAre("I06 1:2"));
  EXPECT_THAT(import_messages(kNccl, text),
              AllOf(HasSubstr("2 PCI devices"), HasSubstr("NCCL_TOPO_DUMP_FILE")));
  EXPECT_THAT(import_errors(kNccl, "<system version=\"1\"/>"), ElementsAre("I06 1:2"));
}

TEST(ImportNcclTraps, IslandsAreNamed) {
  const std::string text = rccl_dump(4, {{0, 1, 1}, {2, 3, 1}}, "908");
  EXPECT_THAT(import_valid(kNccl, text).document.metadata,
              Contains(Pair("pcie", HasSubstr("gpu[0-1] and gpu[2-3]"))));
  EXPECT_EQ(import_fabric(kNccl, text).ranks.size(), 4U);
  EXPECT_EQ(import_fabric(kNccl, text, {.boxes = 1, .fabric = "single"}).ranks.size(), 4U);
}

TEST(ImportNcclTraps, ADeadLinkIsW05) {
  const Imported imported =
      import_valid(kNccl, NvswitchDump{.count = {"12", "12", "11", "12"}}.text());
  EXPECT_THAT(codes_of(imported.warnings), ElementsAre("W05"));
  EXPECT_THAT(imported.warnings[0].message, HasSubstr("gpu2 (11)"));
  const auto arcs = arcs_of(parse_topology(to_topology_json(imported.document), "", {})->topology);
  EXPECT_THAT(
      arcs, AllOf(Contains("box0/gpu2 -> box0/nvsw 220"), Contains("box0/gpu1 -> box0/nvsw 240")));
}

TEST(ImportNcclTraps, DirectionsThatDifferAreKeptAndTold) {
  const std::string text = with(rccl_dump(2, {{0, 1, 4}}, "908"), "count=\"4\"", "count=\"3\"");
  const Imported imported = import_valid(kNccl, text);
  EXPECT_THAT(codes_of(imported.warnings), Contains("I22"));
  EXPECT_THAT(arcs_of(import_fabric(kNccl, text)),
              ElementsAre("box0/gpu0 -> box0/gpu1 72", "box0/gpu1 -> box0/gpu0 96"));
}

TEST(ImportNcclTraps, BrokenFilesAreRefusedWithTheirPlace) {
  const std::string text = NvswitchDump{}.text();
  EXPECT_THAT(import_errors(kNccl, text.substr(0, text.size() / 2)),
              ElementsAre(HasSubstr("I02 ")));
  EXPECT_THAT(import_messages(kNccl, text.substr(0, text.size() / 2)), HasSubstr("cut off"));
  EXPECT_THAT(import_errors(kNccl, ""), ElementsAre("E01"));
  EXPECT_THAT(import_errors(kNccl, std::string("<system\0version", 15)), ElementsAre("E01 1:8"));
  EXPECT_THAT(import_errors(kNccl, "<graphs/>"), ElementsAre("I01"));
  EXPECT_THAT(import_errors(kNccl, with(text, "version=\"1\"", "version=\"3\"")),
              ElementsAre("I02 1:2"));
  EXPECT_THAT(import_errors(kNccl, with(text, " version=\"1\"", "")), ElementsAre("I02 1:2"));
  EXPECT_THAT(import_errors(kNccl, with(text, "dev=\"0\" ", "")), ElementsAre("I03 5:2"));
  EXPECT_THAT(import_errors(kNccl, with(text, "dev=\"0\" ", "dev=\"two\" ")),
              ElementsAre("I03 5:2"));
  EXPECT_THAT(import_errors(kNccl, with(text, "dev=\"0\" ", "dev=\"-1\" ")),
              ElementsAre("I03 5:2"));
  EXPECT_THAT(import_errors(kNccl, with(text, "dev=\"1\" ", "dev=\"0\" ")),
              ElementsAre("I03 10:2"));
  const std::string shared = with(text, "</gpu>", "</gpu><gpu dev=\"0\" sm=\"80\" rank=\"9\"/>");
  EXPECT_THAT(import_errors(kNccl, shared), ElementsAre(HasSubstr("I03 7:")));
  EXPECT_THAT(import_messages(kNccl, shared),
              AllOf(HasSubstr("ranks share a GPU"), HasSubstr("one rank for each GPU")));
  EXPECT_THAT(import_errors(kNccl, with(text, "rank=\"0\" ", "rank=\"x\" ")),
              ElementsAre("I03 5:2"));
  EXPECT_THAT(import_errors(kNccl, with(text, "count=\"12\"", "count=\"-1\"")),
              ElementsAre("I03 6:2"));
  EXPECT_THAT(import_errors(kNccl, with(text, "count=\"12\"", "count=\"9999999\"")),
              ElementsAre("I03 6:2"));
  EXPECT_THAT(import_errors(kNccl, with(text, " count=\"12\"", "")), ElementsAre("I03 6:2"));
  EXPECT_THAT(import_errors(kNccl, with(text, "sm=\"80\"", "sm=\"80abc\"")),
              ElementsAre("I04 5:2"));
  EXPECT_THAT(import_errors(kNccl, text + text), ElementsAre(HasSubstr("I02 ")));
  EXPECT_THAT(import_messages(kNccl, text + text), HasSubstr("begins after the end of <system>"));
}

TEST(ImportNcclTraps, NestingIsBounded) {
  std::string text = "<system version=\"1\"><cpu>";
  for (int i = 0; i < 100'000; ++i) text += "<pci>";
  for (int i = 0; i < 100'000; ++i) text += "</pci>";
  EXPECT_THAT(import_errors(kNccl, text + "</cpu></system>"), ElementsAre(HasSubstr("I09 ")));
}

}  // namespace
}  // namespace forestcoll::testing
