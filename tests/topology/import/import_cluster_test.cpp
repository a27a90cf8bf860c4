// Clusters: one machine grown to many, and the networks of ibnetdiscover and Slurm.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

// Two GPUs, xGMI of 24 GB/s, NICs mlx5_0 and mlx5_1 of 25 GB/s behind PCIe of 24.
const std::string kBox = rccl_dump(2, full_mesh(2), "908");

ImportOptions grown(std::size_t boxes, const std::string& fabric) {
  return {.boxes = boxes, .fabric = fabric};
}

TEST(ImportGrow, RailsHaveASwitchForEachNic) {
  const Imported imported = import_valid(Source::nccl, kBox, grown(4, "rail"));
  const auto& document = imported.document;
  EXPECT_THAT(imported.report.understood,
              ElementsAre("2 GPUs", HasSubstr("1 xgmi link of 24 GB/s (assumed: what RCCL"),
                          "2 NICs of 25 GB/s"));
  ASSERT_EQ(document.boxes.size(), 1U);
  EXPECT_EQ(document.boxes[0].ids, "box[0-3]");
  ASSERT_EQ(document.top.links.size(), 2U);
  EXPECT_EQ(document.top.links[1].src, "box[0-3]/nic1");
  EXPECT_EQ(document.top.links[1].dst, "rail1");
  EXPECT_EQ(document.top.links[1].kind, "nic");
  // The 7 other GPUs reach one through xGMI and its NIC, 24 GB/s each.
  EXPECT_EQ(allgather(import_fabric(Source::nccl, kBox, grown(4, "rail"))), Ratio(384, 7));
}

TEST(ImportGrow, OneSwitchOrTwo) {
  EXPECT_THAT(arcs_of(import_fabric(Source::nccl, kBox, grown(2, "single"))),
              AllOf(Contains("box1/nic0 -> switch0 25"), Contains("box1/nic1 -> switch0 25")));
  EXPECT_THAT(arcs_of(import_fabric(Source::nccl, kBox, grown(2, "odd-even"))),
              AllOf(Contains("box1/nic0 -> switch0 25"), Contains("box1/nic1 -> switch1 25")));
}

TEST(ImportGrow, FatTreesAreOversubscribed) {
  const auto arcs = arcs_of(import_fabric(Source::nccl, kBox, grown(5, "fat-tree:2:4")));
  EXPECT_THAT(arcs, AllOf(Contains("box3/nic1 -> leaf1 25"), Contains("leaf0 -> spine 25"),
                          Contains("leaf2 -> spine 25/2")));
  const auto full = arcs_of(import_fabric(Source::nccl, kBox, grown(4, "fat-tree:2")));
  EXPECT_THAT(full, Contains("spine -> leaf1 100"));
  EXPECT_EQ(import_fabric(Source::nccl, kBox, grown(2, "fat-tree:2")).nodes.size(), 2U * 4 + 1);
}

TEST(ImportGrow, BoxesHaveTheHostsName) {
  EXPECT_EQ(import_valid(Source::nccl, kBox, {.host = "dgx7"}).document.boxes[0].ids, "dgx7");
  ImportOptions options = grown(2, "rail");
  options.host = "dgx";
  EXPECT_EQ(import_valid(Source::nccl, kBox, options).document.boxes[0].ids, "dgx[0-1]");
}

TEST(ImportGrow, OptionsThatDoNotFitAreRefused) {
  const auto errors = [](const ImportOptions& options) {
    return import_errors(Source::nccl, kBox, options);
  };
  EXPECT_THAT(errors(grown(2, "")), ElementsAre("I08"));
  EXPECT_THAT(errors(grown(0, "rail")), ElementsAre("I08"));
  EXPECT_THAT(errors(grown(10'000'000, "rail")), ElementsAre("I08"));
  for (const std::string fabric :
       {"ring", "fat-tree", "fat-tree:", "fat-tree:0", "fat-tree:2:", "fat-tree:2:0",
        "fat-tree:2:-1", "fat-tree:x", "fat-tree:2:1e9"}) {
    EXPECT_THAT(errors(grown(2, fabric)), ElementsAre("I08")) << fabric;
  }
  std::string no_nics = kBox;
  for (std::size_t at; (at = no_nics.find("<nic>")) != std::string::npos;) {
    no_nics.erase(at, no_nics.find("</nic>") + 6 - at);
  }
  for (std::size_t at; (at = no_nics.find("0x020700")) != std::string::npos;) {
    no_nics.replace(at, 8, "0x010000");
  }
  EXPECT_THAT(import_errors(Source::nccl, no_nics, grown(2, "rail")), ElementsAre("I08"));
}

TEST(ImportGrow, ThousandsOfBoxesStayAFewLines) {
  const auto document = import_valid(Source::nccl, kBox, grown(2048, "rail")).document;
  EXPECT_LT(to_topology_json(document).size(), 2000U);
  EXPECT_EQ(parse_topology(to_topology_json(document), "", {})->topology.ranks.size(), 4096U);
}

// An adapter's section of a fabric: its one cable, as the switch's line of it has it.
std::string adapter(const std::string& guid, const std::string& name, const std::string& port,
                    const std::string& speed) {
  return fmt::format(
      "\nvendid=0x2c9\ncaguid=0x{0}\nCa\t1 \"H-0{0}\"\t\t# \"{1}\"\n"
      "[1]({0}) \t\"S-00{2}\t\t# lid 10 lmc 0 \"leaf\" lid 3 {3}\n",
      guid, name, port, speed);
}

// node10 is listed first, and node2 lacks a cable.
const std::string kFabric =
    "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0xb8\nswitchguid=0xb8(b8)\n"
    "Switch\t40 \"S-00b8\"\t\t# \"leaf one\" enhanced port 0 lid 3 lmc 0\n"
    "[1]\t\"H-0a10\"[1](a10) \t\t# \"node10 mlx5_0\" lid 10 4xHDR\n"
    "[2]\t\"H-0a11\"[1](a11) \t\t# \"node10 mlx5_1\" lid 11 4xHDR\n"
    "[3]\t\"H-0a20\"[1](a20) \t\t# \"node2 mlx5_0\" lid 12 4xEDR\n"
    "[4]\t\"H-0ff0\"[1](ff0) \t\t# \"Mellanox Technologies Aggregation Node\" lid 13 4xHDR\n"
    "[5]\t\"H-0ee0\"[1](ee0) \t\t# \"login0 mlx5_9\" lid 14 4xHDR\n"
    "[22]\t\"S-00b9\"[7]\t\t# \"leaf two\" lid 4 4xNDR\n"
    "[23]\t\"S-00b9\"[8]\t\t# \"leaf two\" lid 4 4xNDR\n"
    "\n"
    "switchguid=0xb9(b9)\n"
    "Switch\t40 \"S-00b9\"\t\t# \"leaf two\" enhanced port 0 lid 4 lmc 0\n"
    "[7]\t\"S-00b8\"[22]\t\t# \"leaf one\" lid 3 4xNDR\n"
    "[8]\t\"S-00b8\"[23]\t\t# \"leaf one\" lid 3 4xNDR\n"
    "[9]\t\"H-0a30\"[1](a30) \t\t# \"node3 mlx5_0\" lid 15 2xHDR\n"
    "[10]\t\"H-0a31\"[1](a31) \t\t# \"node3 mlx5_1\" lid 16 4xHDR\n" +
    adapter("a10", "node10 mlx5_0", "b8\"[1]", "4xHDR") +
    adapter("a11", "node10 mlx5_1", "b8\"[2]", "4xHDR") +
    adapter("a20", "node2 mlx5_0", "b8\"[3]", "4xEDR") +
    adapter("ff0", "Mellanox Technologies Aggregation Node", "b8\"[4]", "4xHDR") +
    adapter("ee0", "login0 mlx5_9", "b8\"[5]", "4xHDR") +
    adapter("a30", "node3 mlx5_0", "b9\"[9]", "2xHDR") +
    adapter("a31", "node3 mlx5_1", "b9\"[10]", "4xHDR");

ImportOptions with_box() {
  return {.box_text = kBox, .box_file = "box.xml"};
}

TEST(ImportIbnetdiscover, CablesJoinTheHostsByTheAdaptersNames) {
  const Imported imported = import_valid(Source::ibnetdiscover, kFabric, with_box());
  EXPECT_EQ(imported.document.templates.size(), 1U);
  const Topology fabric = parse_valid(to_topology_json(imported.document));
  ASSERT_EQ(fabric.ranks.size(), 6U);
  EXPECT_EQ(fabric.nodes[fabric.ranks[0]].id, "node2/gpu0");
  EXPECT_EQ(fabric.nodes[fabric.ranks[4]].id, "node10/gpu0");
  EXPECT_THAT(arcs_of(fabric),
              AllOf(Contains("node10/nic1 -> sw0 25"), Contains("node2/nic0 -> sw0 25/2"),
                    Contains("node3/nic0 -> sw1 25/2"), Contains("sw0 -> sw1 100"),
                    Contains("sw1 -> sw0 100")));
  EXPECT_THAT(codes_of(imported.warnings), ElementsAre("W05"));
  EXPECT_THAT(imported.warnings[0].message, HasSubstr("node2 (1)"));
  EXPECT_THAT(imported.report.left_out,
              AllOf(Contains(HasSubstr("Aggregation Node")), Contains(HasSubstr("login0 mlx5_9"))));
  EXPECT_THAT(imported.document.metadata, Contains(std::pair("sw1", "leaf two")));
}

TEST(ImportIbnetdiscover, EverySpeedHasItsDataRate) {
  for (const auto& [speed, rate] : {std::pair("4xSDR", "1"),
                                    {"4xDDR", "2"},
                                    {"4xQDR", "4"},
                                    {"4xFDR10", "5"},
                                    {"4xFDR", "34/5"},
                                    {"4xEDR", "25/2"},
                                    {"4xHDR", "25"},
                                    {"4xNDR", "50"},
                                    {"4xXDR", "100"},
                                    {"8xHDR", "50"},
                                    {"1xHDR", "25/4"}}) {
    const std::string here = with(kFabric, "lid 10 4xHDR", std::string("lid 10 ") + speed);
    const std::string text = with(here, "leaf\" lid 3 4xHDR", std::string("leaf\" lid 3 ") + speed);
    EXPECT_THAT(arcs_of(import_fabric(Source::ibnetdiscover, text, with_box())),
                Contains(std::string("node10/nic0 -> sw0 ") + rate));
  }
}

TEST(ImportIbnetdiscover, BrokenFilesAreRefusedWithTheirPlace) {
  const auto errors = [](const std::string& what, const std::string& by) {
    return import_errors(Source::ibnetdiscover, with(kFabric, what, by), with_box());
  };
  EXPECT_THAT(errors("lid 10 4xHDR", "lid 10 4xABC"), ElementsAre("I02 6:1"));
  EXPECT_THAT(errors("lid 10 4xHDR", "lid 10"), ElementsAre("I02 6:1"));
  EXPECT_THAT(errors("[1]\t\"H-0a10\"[1]", "[1]\t\"H-0a10[1]"), Contains("I02 6:1"));
  EXPECT_THAT(errors("[7]\t\"S-00b8\"", "[7]\t\"S-00bb\""), ElementsAre("I02 11:1"));
  EXPECT_THAT(errors("Switch\t40 \"S-00b9\"", "Switch\t40 \"S-00b8\""), Contains("I02 15:1"));
  EXPECT_THAT(errors("Switch\t40 \"S-00b9\"", "Switch\t40 S-00b9"), Contains("I02 15:1"));
  EXPECT_THAT(errors("[2]\t\"H-", "[1]\t\"H-"), Contains("I02 7:1"));
  EXPECT_THAT(errors("vendid=0x2c9", "hello world"), ElementsAre("I02 1:1"));
  EXPECT_THAT(import_errors(Source::ibnetdiscover, "vendid=0x2c9\n", with_box()),
              ElementsAre("I01 1:1"));
  EXPECT_THAT(import_errors(Source::ibnetdiscover,
                            kFabric.substr(0, kFabric.find("mlx5_1\" lid 16")), with_box()),
              ElementsAre(HasSubstr("I02 ")));
}

// A file that ends early is no smaller fabric: what switches name has to follow.
TEST(ImportIbnetdiscover, FilesCutBetweenTwoLinesAreRefused) {
  std::size_t refused = 0;
  for (std::size_t at = kFabric.find("[1]"); (at = kFabric.find('\n', at)) < kFabric.size() - 1;) {
    const auto cut =
        import_topology(Source::ibnetdiscover, kFabric.substr(0, ++at), "f", with_box());
    ASSERT_FALSE(cut) << kFabric.substr(0, at);
    EXPECT_EQ(cut.errors().front().code, Code::I02);
    ++refused;
  }
  EXPECT_GT(refused, 40U);
}

TEST(ImportIbnetdiscover, EndsOfACableThatDisagreeAreRefused) {
  const auto refusal = [](const std::string& what, const std::string& by) {
    return import_messages(Source::ibnetdiscover, with(kFabric, what, by), with_box());
  };
  EXPECT_THAT(refusal("lid 10 4xHDR", "lid 10 1xSDR"),
              AllOf(HasSubstr("[I02]"), HasSubstr(" 6:1:"), HasSubstr("1xSDR here and 4xHDR"),
                    HasSubstr("24:1")));
  EXPECT_THAT(refusal("[7]\t\"S-00b8\"[22]", "[7]\t\"S-00b8\"[21]"), HasSubstr("leads elsewhere"));
  EXPECT_THAT(refusal("[1](a11) \t\"S-00b8\"[2]", "[1](a11) \t\"S-00b8\"[1]"),
              HasSubstr("leads elsewhere"));
  EXPECT_THAT(refusal("[10]\t\"H-0a31\"", "[10]\t\"H-0a32\""), HasSubstr("has no section"));
}

TEST(ImportIbnetdiscover, TwoAdaptersOfOneNameAreRefused) {
  const std::string text = everywhere(kFabric, "node3 mlx5", "node10 mlx5");
  EXPECT_THAT(import_messages(Source::ibnetdiscover, text, with_box()),
              AllOf(HasSubstr("[I02]"), HasSubstr("\"H-0a30\" and \"H-0a10\" (at 6:1)"),
                    HasSubstr("node10 mlx5_0"), HasSubstr(" 18:1:")));
  // Of hosts that are no machines it does not matter.
  ImportOptions options = with_box();
  options.compute = "node2";
  EXPECT_EQ(import_fabric(Source::ibnetdiscover, text, options).ranks.size(), 2U);
  // Two ports of one adapter are parallel cables.
  const std::string ports = with(with(kFabric, "[2]\t\"H-0a11\"[1](a11) \t\t# \"node10 mlx5_1\"",
                                      "[2]\t\"H-0a10\"[2](a10) \t\t# \"node10 mlx5_0\""),
                                 adapter("a11", "node10 mlx5_1", "b8\"[2]", "4xHDR"), "");
  const std::string both =
      with(ports, "\n[1](a10)", "\n[2](a10) \t\"S-00b8\"[2]\t\t# \"leaf\" lid 3 4xHDR\n[1](a10)");
  EXPECT_THAT(arcs_of(import_fabric(Source::ibnetdiscover, both, with_box())),
              Contains("node10/nic0 -> sw0 50"));
}

TEST(ImportIbnetdiscover, HostsWithBracketsAreNoRanges) {
  EXPECT_THAT(import_errors(Source::ibnetdiscover, everywhere(kFabric, "node3 ", "node3[0-3] "),
                            with_box()),
              ElementsAre("I03 18:1"));
}

TEST(ImportIbnetdiscover, WhichHostsAreMachinesIsAGuess) {
  const std::string text = everywhere(kFabric, "login0 mlx5_9", "login0 mlx5_0");
  const Imported all = import_valid(Source::ibnetdiscover, text, with_box());
  EXPECT_THAT(all.report.guesses, Contains(AllOf(HasSubstr("every host is a machine"),
                                                 HasSubstr("login0, node[2-3,10]"))));
  EXPECT_THAT(all.document.metadata,
              Contains(Pair(::testing::_, HasSubstr("login0, node[2-3,10]"))));
  ImportOptions options = with_box();
  options.compute = "node*";
  const Imported some = import_valid(Source::ibnetdiscover, text, options);
  EXPECT_THAT(some.report.left_out, Contains(HasSubstr("does not name: login0")));
  EXPECT_THAT(some.report.guesses, Not(Contains(HasSubstr("every host"))));
  EXPECT_EQ(parse_valid(to_topology_json(some.document)).ranks.size(), 6U);
  options.compute = "gpu*";
  EXPECT_THAT(import_messages(Source::ibnetdiscover, text, options),
              AllOf(HasSubstr("[I08]"), HasSubstr("gpu*"), HasSubstr("login0, node[2-3,10]")));
}

TEST(ImportIbnetdiscover, TheMachineIsAskedFor) {
  EXPECT_THAT(import_errors(Source::ibnetdiscover, kFabric), ElementsAre("I05"));
  EXPECT_THAT(import_messages(Source::ibnetdiscover, kFabric), HasSubstr("`box="));
  EXPECT_THAT(import_errors(Source::ibnetdiscover, kFabric, {.box_text = "a,b", .box_file = "b"}),
              ElementsAre("I08"));
  EXPECT_THAT(import_errors(Source::ibnetdiscover, kFabric,
                            {.box_text = kBox.substr(0, 300), .box_file = "b"}),
              ElementsAre(HasSubstr("I02 ")));
  ImportOptions both = with_box();
  both.boxes = 2;
  EXPECT_THAT(import_errors(Source::ibnetdiscover, kFabric, both), ElementsAre("I08"));
  std::string others = kBox;
  for (std::size_t at; (at = others.find("mlx5_")) != std::string::npos;) {
    others.replace(at, 5, "cxi");
  }
  EXPECT_THAT(
      import_messages(Source::ibnetdiscover, kFabric, {.box_text = others, .box_file = "b"}),
      HasSubstr("cxi0, cxi1"));
}

const std::string kSlurm =
    "# two leaves\n"
    "SwitchName=s0 Nodes=dev[0-2]   # comment\n"
    "switchname=s1 nodes=dev3,\\\n"
    "gpu[7-8] LinkSpeed=100\n"
    "SwitchName=top Switches=s[0-1]\n";

ImportOptions slurm_options() {
  ImportOptions options = with_box();
  options.uplinks = 2;
  options.uplink_bandwidth = Ratio(40);
  return options;
}

TEST(ImportSlurm, NodesAreMachinesOnTheirSwitches) {
  const Imported imported = import_valid(Source::slurm, kSlurm, slurm_options());
  const Topology fabric = parse_valid(to_topology_json(imported.document));
  EXPECT_EQ(fabric.ranks.size(), 12U);
  EXPECT_THAT(arcs_of(fabric), AllOf(Contains("dev2/nic1 -> s0 25"), Contains("gpu8/nic0 -> s1 25"),
                                     Contains("s0 -> top 80")));
  EXPECT_THAT(imported.report.left_out, Contains(HasSubstr("LinkSpeed")));
}

TEST(ImportIbnetdiscover, TheSpeedOfANicIsThatOfItsCable) {
  ImportOptions options = with_box();
  options.nic_bandwidth = Ratio(50);
  EXPECT_THAT(import_errors(Source::ibnetdiscover, kFabric, options), ElementsAre("I08"));
  options.nic_bandwidth.reset();
  options.bandwidths = {{"nic", Ratio(3)}};
  for (const std::string& arc : arcs_of(import_fabric(Source::ibnetdiscover, kFabric, options))) {
    if (arc.find("nic") == std::string::npos || arc.find("gpu") != std::string::npos) continue;
    EXPECT_TRUE(arc.ends_with(" 3") || arc.ends_with(" 6")) << arc;
  }
}

// nvidia-smi's matrix has no speed of a NIC: that of the cable is the NIC's on PCIe too.
TEST(ImportIbnetdiscover, AMachineWhoseNicsHaveNoSpeed) {
  const std::string matrix =
      "        GPU0    GPU1    NIC0    NIC1    NIC2    CPU Affinity    NUMA Affinity\n"
      "GPU0     X      NV18    PIX     PIX     PIX     0-55            0\n"
      "GPU1    NV18     X      PIX     PIX     PIX     0-55            0\n"
      "NIC0    PIX     PIX      X      PIX     PIX\n"
      "NIC1    PIX     PIX     PIX      X      PIX\n"
      "NIC2    PIX     PIX     PIX     PIX      X\n"
      "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n  NIC2: eth7\n";
  ImportOptions options{.gpu = "h100", .box_text = matrix, .box_file = "matrix.txt"};
  const Imported imported = import_valid(Source::ibnetdiscover, kFabric, options);
  EXPECT_THAT(imported.report.left_out, Contains("1 NIC without a cable in the network: eth7"));
  EXPECT_THAT(imported.report.understood, Contains("2 NICs of 25 GB/s"));
  const auto arcs = arcs_of(parse_valid(to_topology_json(imported.document)));
  EXPECT_THAT(arcs, Contains("node10/pcie_out0 -> node10/nic_out0 25"));
  EXPECT_THAT(arcs, Not(Contains(HasSubstr("nic_out2"))));
  for (const std::string& arc : arcs) EXPECT_FALSE(arc.ends_with(" 1")) << arc;
  // Two cables to one NIC bring twice as much, whatever --bandwidths gives each.
  const std::string first = adapter("a10", "node10 mlx5_0", "b8\"[1]", "4xHDR");
  std::string twice = with(
      kFabric, first, first + "[2](a10) \t\"S-00b8\"[5]\t\t# lid 10 lmc 0 \"leaf\" lid 3 4xHDR\n");
  twice = with(twice, adapter("ee0", "login0 mlx5_9", "b8\"[5]", "4xHDR"), "");
  twice = with(twice, "[5]\t\"H-0ee0\"[1](ee0) \t\t# \"login0 mlx5_9\"",
               "[5]\t\"H-0a10\"[2](a10) \t\t# \"node10 mlx5_0\"");
  EXPECT_THAT(arcs_of(import_fabric(Source::ibnetdiscover, twice, options)),
              AllOf(Contains("node10/pcie_out0 -> node10/nic_out0 50"),
                    Contains("node10/nic_out0 -> sw0 50")));
  options.bandwidths = {{"nic", Ratio(10)}};
  EXPECT_THAT(arcs_of(import_fabric(Source::ibnetdiscover, twice, options)),
              AllOf(Contains("node10/pcie_out0 -> node10/nic_out0 20"),
                    Contains("node10/nic_out0 -> sw0 20")));
}

TEST(ImportSlurm, ASpeedThatTheMachineHasIsNotAskedFor) {
  ImportOptions options = slurm_options();
  options.nic_bandwidth = Ratio(50);
  EXPECT_THAT(import_errors(Source::slurm, kSlurm, options), ElementsAre("I08"));
}

TEST(ImportSlurm, WhatIsMissingIsAskedFor) {
  EXPECT_THAT(import_errors(Source::slurm, kSlurm, with_box()), ElementsAre("I05 5:1"));
  EXPECT_THAT(import_messages(Source::slurm, kSlurm, with_box()), HasSubstr("`uplink_bandwidth="));
  EXPECT_THAT(import_errors(Source::slurm, "SwitchName=s0 Nodes=a,b\n"), ElementsAre("I05"));
}

TEST(ImportSlurm, BrokenFilesAreRefusedWithTheirPlace) {
  const auto errors = [](const std::string& what, const std::string& by) {
    return import_errors(Source::slurm, with(kSlurm, what, by), slurm_options());
  };
  EXPECT_THAT(errors("dev[0-2]", "dev[0-"), ElementsAre("I02 2:1"));
  EXPECT_THAT(errors("dev[0-2]", "dev[0-99999999]"), ElementsAre("I09 2:1"));
  EXPECT_THAT(errors("Switches=s[0-1]", "Switches=s[0-2]"), ElementsAre("I02 5:1"));
  EXPECT_THAT(errors("Switches=s[0-1]", "Color=red"), ElementsAre("I02 5:1"));
  EXPECT_THAT(errors("SwitchName=top ", ""), ElementsAre("I02 5:1"));
  EXPECT_THAT(errors("switchname=s1", "SwitchName=s0"), ElementsAre("I02 3:1"));
  EXPECT_THAT(errors("SwitchName=top", "top SwitchName=top"), ElementsAre("I02 5:1"));
  EXPECT_THAT(errors("SwitchName=top", "SwitchName=\"top"), ElementsAre("I02 5:1"));
  EXPECT_THAT(errors("SwitchName=top", "SwitchName=top Nodes="), ElementsAre("I02 5:1"));
  EXPECT_THAT(import_errors(Source::slurm, "# nothing\n", slurm_options()), ElementsAre("I01 1:1"));
}

TEST(ImportSlurm, QuotationMarksAndBlanksAreSlurms) {
  const std::string same =
      with(with(kSlurm, "SwitchName=s0 Nodes=dev[0-2]", "SwitchName = \"s0\"\tNodes= \"dev[0-2]\""),
           "SwitchName=top Switches=s[0-1]", " SwitchName =top Switches=\"s[0-1]\" ");
  EXPECT_EQ(arcs_of(import_fabric(Source::slurm, same, slurm_options())),
            arcs_of(import_fabric(Source::slurm, kSlurm, slurm_options())));
}

// Each of these would give NICs or uplinks a bandwidth that they do not have.
TEST(ImportSlurm, WhatStandsTwiceOrBelowItselfIsRefused) {
  for (const auto& [text, line, message] :
       {std::tuple("SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=b,c\n", 2,
                   "node \"b\" stands under \"s0\" and under \"s1\""),
        {"SwitchName=s[0-1] Nodes=a\n", 1, "node \"a\" stands under \"s0\" and under \"s1\""},
        {"SwitchName=s0 Nodes=a[0-2],a1\n", 1, "node \"a1\" stands twice under \"s0\""},
        {"SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b\nSwitchName=t Switches=s[0-1],s0\n", 3,
         "switch \"s0\" stands twice under \"t\""},
        {"SwitchName=s0 Nodes=a Switches=s1\nSwitchName=s1 Nodes=b Switches=s0\n", 1,
         "\"s0\" stands below itself"},
        {"SwitchName=s0 Nodes=a,b Switches=s0\n", 1, "\"s0\" stands below itself"}}) {
    EXPECT_THAT(import_errors(Source::slurm, text, slurm_options()),
                ElementsAre(fmt::format("I02 {}:1", line)))
        << text;
    EXPECT_THAT(import_messages(Source::slurm, text, slurm_options()), HasSubstr(message));
  }
  // Two spines above a leaf are two uplinks.
  const std::string spines =
      "SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b\nSwitchName=t[0-1] Switches=s[0-1]\n";
  EXPECT_THAT(arcs_of(import_fabric(Source::slurm, spines, slurm_options())),
              AllOf(Contains("s0 -> t0 80"), Contains("s0 -> t1 80"), Contains("t1 -> s1 80")));
}

}  // namespace
}  // namespace forestcoll::testing
