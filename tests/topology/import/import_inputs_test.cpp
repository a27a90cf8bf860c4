// Files that clouds ship for NCCL: without the links of the GPUs, or without GPUs.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

constexpr const char* kGen4 = R"(link_speed="16 GT/s" link_width="16")";

/// Two sockets of two PCIe switches each; what `devices` writes for number 0 to 3 is below them.
template <class Devices>
std::string four_switches(const std::string& attributes, Devices devices) {
  std::string text = "<system version=\"1\">\n";
  for (int socket = 0; socket < 2; ++socket) {
    text += fmt::format("<cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"AuthenticAMD\">\n", socket);
    for (int n = 2 * socket; n < 2 * socket + 2; ++n) {
      text += fmt::format("<pci busid=\"ffff:ff:{:02x}.0\" {}>\n{}</pci>\n", n + 1, attributes,
                          devices(n));
    }
    text += "</cpu>\n";
  }
  return text + "</system>\n";
}

/// Eight GPUs by class alone, each with a NIC.
std::string without_links() {
  return four_switches(fmt::format("class=\"0x060400\" {}", kGen4), [](int n) {
    std::string devices;
    for (int gpu = 2 * n; gpu < 2 * n + 2; ++gpu) {
      devices += fmt::format(
          "<pci busid=\"{0:04x}:00:00.0\" class=\"0x030200\" {1}/>\n"
          "<pci busid=\"01{0:02x}:00:00.0\" class=\"0x020700\" {1}/>\n",
          gpu + 1, kGen4);
    }
    return devices;
  });
}

/// The same, with the number of the GPUs' part.
std::string of_part(const std::string& device) {
  return everywhere(without_links(), "class=\"0x030200\"",
                    fmt::format("class=\"0x030200\" device=\"{}\"", device));
}

/// Two devices below each switch, of which nothing says what they are.
std::string without_gpus() {
  return four_switches("", [](int n) {
    return fmt::format(
        "<pci busid=\"0000:{0:x}0:00.0\" {1}/>\n<pci busid=\"0000:{0:x}1:00.0\" {1}/>\n", n + 4,
        kGen4);
  });
}

std::string on_nvswitch(int gpus) {
  return fmt::format(R"({{"format": "forestcoll-topology", "version": 1, "nodes": [
      {{"id": "gpu[0-{}]", "type": "compute"}}, {{"id": "sw", "type": "switch"}}], "links": [
      {{"src": "gpu[0-{}]", "dst": "sw", "bandwidth": 25, "count": 12, "kind": "nvlink"}}]}})",
                     gpus - 1, gpus - 1);
}

ImportOptions box(std::string text) {
  return {.box_text = std::move(text), .box_file = "box.json"};
}

ImportOptions nvlink(const Ratio& bandwidth) {
  return {.nvswitch = bandwidth};
}

TEST(ImportInputs, AFileWithoutLinksIsNoMachineWithoutNvlink) {
  EXPECT_THAT(import_errors(Source::nccl, without_links()), ElementsAre("I07", "I23"));
  EXPECT_THAT(
      import_messages(Source::nccl, without_links()),
      AllOf(HasSubstr("made for NCCL to read"), HasSubstr("no links of its 8 GPUs"),
            HasSubstr("`nvswitch=RATE`"), HasSubstr("`box=NAME`"), HasSubstr("`pcie_p2p`")));
  // In a cluster too, where the GPUs would meet over the NICs alone.
  EXPECT_THAT(import_errors(Source::nccl, without_links(), {.boxes = 2, .fabric = "single"}),
              Contains("I07"));
}

// What completes a file would be refused beside the links that it has.
TEST(ImportInputs, AFileWithSomeLinksIsNotToldToTakeThoseOfABox) {
  const std::string bare = with(NvswitchDump{}.text(), "</cpu>",
                                fmt::format("<pci busid=\"0000:0a:00.0\" class=\"0x060400\" {0}>\n"
                                            "<pci busid=\"0000:0b:00.0\" class=\"0x030200\" {0}/>\n"
                                            "</pci>\n</cpu>",
                                            kGen4));
  const std::string messages = import_messages(Source::nccl, bare);
  EXPECT_THAT(messages,
              AllOf(HasSubstr("[I07]"), HasSubstr("no links of 1 of its 5 GPUs"),
                    HasSubstr("`pcie_p2p`"), Not(HasSubstr("`nvswitch")), Not(HasSubstr("`box"))));
  EXPECT_THAT(import_errors(Source::nccl, bare, nvlink(300)), Contains("I08"));
  EXPECT_THAT(import_errors(Source::nccl, bare, box(on_nvswitch(5))), Contains("I08"));
  const Topology joined = import_fabric(Source::nccl, bare, {.pcie_p2p = true});
  EXPECT_EQ(joined.ranks.size(), 5U);
}

TEST(ImportInputs, ThePartSaysWhichBoxHasTheLinks) {
  EXPECT_THAT(import_messages(Source::nccl, of_part("0x1db5")),
              AllOf(HasSubstr("nvswitch=150"), HasSubstr("`box=dgx-1v` ")));
  EXPECT_THAT(import_messages(Source::nccl, of_part("0x2330")),
              AllOf(HasSubstr("nvswitch=450"), HasSubstr("`box=dgx-h100` ")));
  EXPECT_THAT(import_messages(Source::nccl, of_part("0x2335")),
              AllOf(HasSubstr("nvswitch=450"), HasSubstr("`box=dgx-h200` ")));
  EXPECT_THAT(import_messages(Source::nccl, of_part("0x3182")),
              AllOf(HasSubstr("nvswitch=900"), HasSubstr("`box=dgx-b300` ")));
  // A tray has four GPUs: no box of `generators` is one.
  EXPECT_THAT(import_messages(Source::nccl, of_part("0x2941")),
              AllOf(HasSubstr("nvswitch=900"), HasSubstr("`box=NAME` ")));
}

// An H100 has 18 links of 25 GB/s, or of 20.6 by NCCL; the files of most clouds name no part.
TEST(ImportInputs, LinksThatThePartDoesNotHaveAreDoubted) {
  const auto told = [](const std::string& text, const ImportOptions& options) {
    std::string all;
    for (const Diagnostic& warning : import_valid(Source::nccl, text, options).warnings) {
      all += to_string(warning) + "\n";
    }
    return all;
  };
  const std::string h100 = of_part("0x2330");
  EXPECT_THAT(
      told(h100, nvlink(300)),
      AllOf(HasSubstr("`nvswitch` gives GPU 0 300 GB/s"), HasSubstr("H100 SXM5"),
            HasSubstr("has 450 GB/s"), HasSubstr("`nvswitch=450`, or `box="), HasSubstr("[I21]")));
  EXPECT_THAT(told(h100, box(on_nvswitch(8))), HasSubstr("`box` gives GPU 0 300 GB/s"));
  EXPECT_EQ(told(h100, nvlink(450)), "");
  EXPECT_EQ(told(h100, nvlink(Ratio(3708, 10))), "");
  EXPECT_EQ(told(of_part("0x20b2"), box(on_nvswitch(8))), "");
  EXPECT_EQ(told(without_links(), nvlink(300)), "");
  EXPECT_EQ(told(of_part("0x20b5"), nvlink(300)), "");  // a card
  // What the user gives link by link is his.
  ImportOptions given = box(on_nvswitch(8));
  given.bandwidths = {{"nvlink", Ratio(20)}};
  EXPECT_EQ(told(h100, given), "");
}

// Seven shares come in through 300: 8 · 300 / 7.
TEST(ImportInputs, NvlinkSaysWhatTheGpusHave) {
  const Topology fabric = import_fabric(Source::nccl, without_links(), nvlink(300));
  EXPECT_EQ(allgather(fabric), Ratio(2400, 7));
  EXPECT_THAT(arcs_of(fabric), Contains("box0/gpu7 -> box0/nvsw 300"));
  // PCIe is no way beside it: it does not have to be one.
  EXPECT_THAT(arcs_of(fabric), Each(HasSubstr("nvsw")));
}

// … and the file's own NICs and PCIe: 8 · 24 leaves a box, 24 for each of its shares, and 15 shares
// come into a GPU through 300 + 24.
TEST(ImportInputs, TheFilesOwnNicsAndPcieStay) {
  ImportOptions options = nvlink(300);
  options.boxes = 2;
  options.fabric = "rail";
  options.nic_bandwidth = Ratio(25);
  const Topology fabric = import_fabric(Source::nccl, without_links(), options);
  EXPECT_THAT(arcs_of(fabric), AllOf(Contains("box1/gpu7 -> box1/pcie_out3 24"),
                                     Contains("box1/pcie_out3 -> box1/nic_out7 24"),
                                     Contains("box1/nic_out7 -> rail7 25")));
  EXPECT_EQ(allgather(fabric), Ratio(16 * 324, 15));
}

TEST(ImportInputs, ABoxOfAnotherFileHasTheLinks) {
  EXPECT_EQ(allgather(import_fabric(Source::nccl, without_links(), box(on_nvswitch(8)))),
            Ratio(2400, 7));
  const Imported imported = import_valid(Source::nccl, without_links(), box(on_nvswitch(8)));
  EXPECT_THAT(imported.report.understood, ElementsAre("links of the GPUs of \"box.json\"", "8 GPUs",
                                                      "96 nvlink links of 25 GB/s"));
  // Direct links, which make a difference between GPUs.
  std::string mesh = R"({"format": "forestcoll-topology", "version": 1, "nodes": [
      {"id": "g[0-7]", "type": "compute"}], "links": [)";
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b) {
      mesh += fmt::format(R"({}{{"src": "g{}", "dst": "g{}", "bandwidth": 48, "kind": "xgmi"}})",
                          mesh.ends_with("[") ? "" : ",", a, b);
    }
  }
  EXPECT_EQ(allgather(import_fabric(Source::nccl, without_links(), box(mesh + "]}"))), Ratio(384));
  EXPECT_THAT(import_valid(Source::nccl, without_links(), box(mesh + "]}")).report.guesses,
              Contains(HasSubstr("which GPU of `box`")));
  // A dump of such a machine, with NCCL's constants for its links.
  EXPECT_EQ(allgather(import_fabric(Source::nccl, without_links(),
                                    box(rccl_dump(8, full_mesh(8), "gfx942")))),
            Ratio(384));
  // A table of bandwidths overrules the box as well.
  ImportOptions given = box(on_nvswitch(8));
  given.bandwidths = {{"nvlink", Ratio(20)}};
  EXPECT_EQ(allgather(import_fabric(Source::nccl, without_links(), given)), Ratio(8 * 240, 7));
}

TEST(ImportInputs, ABoxHasTheGpusToo) {
  EXPECT_THAT(import_errors(Source::nccl, without_gpus()), ElementsAre("I06 1:2"));
  EXPECT_THAT(import_messages(Source::nccl, without_gpus()),
              AllOf(HasSubstr("12 PCI devices"), HasSubstr("`box=")));
  EXPECT_THAT(import_errors(Source::nccl, without_gpus(), nvlink(300)), ElementsAre("I06 1:2"));
  const Imported alone = import_valid(Source::nccl, without_gpus(), box(on_nvswitch(8)));
  EXPECT_EQ(allgather(parse_valid(to_topology_json(alone.document))), Ratio(2400, 7));
  EXPECT_THAT(alone.report.guesses, ElementsAre("8 PCI devices without a class: taken for NICs",
                                                HasSubstr("2 below each of the 4 PCIe switches")));
  // Two NICs and two GPUs share a switch: the GPUs' slots are guessed to be as wide as theirs.
  ImportOptions options = box(on_nvswitch(8));
  options.boxes = 2;
  options.fabric = "rail";
  options.nic_bandwidth = Ratio(25, 2);
  const Topology fabric = import_fabric(Source::nccl, without_gpus(), options);
  EXPECT_THAT(arcs_of(fabric), AllOf(Contains("box0/gpu2 -> box0/pcie_out1 24"),
                                     Contains("box0/gpu3 -> box0/pcie_out1 24"),
                                     Contains("box0/nic_out2 -> rail2 25/2")));
  // Eight NICs of 12.5 leave a box: 12.5 for each of its 8 shares.
  EXPECT_EQ(allgather(fabric), Ratio(16 * 25, 2));
}

// --box is named only where GPUs can go somewhere.
TEST(ImportInputs, ABoxIsOfferedWhereItsGpusFit) {
  const auto remedy = [](const std::string& text) { return import_messages(Source::nccl, text); };
  EXPECT_THAT(remedy(without_gpus()), HasSubstr("`box=dgx-h100` "));
  std::string below_cpus = "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\">";
  for (int n = 0; n < 8; ++n) {
    below_cpus += fmt::format("<pci busid=\"0000:{:02x}:00.0\" class=\"0x020000\" {}/>", n, kGen4);
  }
  EXPECT_THAT(remedy(below_cpus + "</cpu></system>"),
              AllOf(HasSubstr("[I06]"), Not(HasSubstr("`box"))));
  std::string three = without_gpus();
  for (const char* device : {"0000:70:00.0", "0000:71:00.0"}) {
    three = with(three, fmt::format("<pci busid=\"{}\" {}/>\n", device, kGen4), "");
  }
  EXPECT_THAT(remedy(three), AllOf(HasSubstr("`box=NAME` "), HasSubstr("of which 3 have devices")));
  EXPECT_THAT(import_errors(Source::nccl, three, box(on_nvswitch(8))), ElementsAre("I08"));
  EXPECT_EQ(import_fabric(Source::nccl, three, box(on_nvswitch(6))).ranks.size(), 6U);
  std::string hosts =
      with(without_gpus(), "<cpu numaid=\"0\"", "<cpu host_hash=\"0x1\" numaid=\"0\"");
  hosts = with(hosts, "<cpu numaid=\"1\"", "<cpu host_hash=\"0x2\" numaid=\"1\"");
  EXPECT_THAT(remedy(hosts), AllOf(HasSubstr("[I06]"), Not(HasSubstr("`box"))));
}

TEST(ImportInputs, WhatDoesNotFitIsRefused) {
  const auto messages = [](const std::string& text, const ImportOptions& options) {
    return import_messages(Source::nccl, text, options);
  };
  const std::string whole = NvswitchDump{}.text();
  EXPECT_THAT(messages(whole, nvlink(300)),
              AllOf(HasSubstr("[I08]"), HasSubstr("`nvswitch`: the file has the GPUs' links")));
  EXPECT_THAT(messages(whole, box(on_nvswitch(4))),
              AllOf(HasSubstr("[I08]"), HasSubstr("`box`: the file has the GPUs' links")));
  ImportOptions both = box(on_nvswitch(8));
  both.nvswitch = Ratio(300);
  EXPECT_THAT(messages(without_links(), both), HasSubstr("`nvswitch` and `box` both"));
  EXPECT_THAT(messages(without_links(), box(on_nvswitch(4))), HasSubstr("4 GPUs, and the file 8"));
  EXPECT_THAT(messages(without_gpus(), box(on_nvswitch(6))), HasSubstr("do not go evenly below"));
  EXPECT_THAT(messages(without_links(), box(with(on_nvswitch(8), "nvlink", "pcie"))),
              HasSubstr("no links of the kinds nvlink and xgmi"));
  EXPECT_THAT(messages(without_links(), box("nonsense")),
              AllOf(HasSubstr("box.json"), HasSubstr("[E01]")));
  EXPECT_THAT(messages(without_links(), box("<graphs/>")), HasSubstr("expected the dump"));
  const std::string one_way = R"({"format": "forestcoll-topology", "version": 1, "nodes": [
      {"id": "g[0-7]", "type": "compute"}, {"id": "s", "type": "switch"}], "links": [
      {"src": "g[0-7]", "dst": "s", "bandwidth": 25, "kind": "nvlink", "duplex": "simplex"},
      {"src": "s", "dst": "g[0-7]", "bandwidth": 25, "kind": "nvlink", "duplex": "simplex"}]})";
  EXPECT_THAT(messages(without_links(), box(one_way)), HasSubstr("leads one way"));
  const std::string two_boxes = R"({"format": "forestcoll-topology", "version": 1, "nodes": [
      {"id": "a[0-3]", "type": "compute", "box": "a"},
      {"id": "b[0-3]", "type": "compute", "box": "b"}, {"id": "s", "type": "switch"}], "links": [
      {"src": "a[0-3]", "dst": "s", "bandwidth": 25, "kind": "nvlink"},
      {"src": "b[0-3]", "dst": "s", "bandwidth": 25, "kind": "nvlink"}]})";
  EXPECT_THAT(messages(without_links(), box(two_boxes)), HasSubstr("has 2 boxes"));
  const std::string power = everywhere(
      NvswitchDump{.sm = "70", .count = {"3", "3", "3", "3"}, .target = "0000:cc:00.0"}.text(),
      "tclass=\"0x068000\"", "tclass=\"0x068001\"");
  EXPECT_THAT(messages(without_links(), box(power)), HasSubstr("lead to CPUs"));
  std::string hosts = without_links();
  hosts = with(hosts, "<cpu numaid=\"0\"", "<cpu host_hash=\"0x1\" numaid=\"0\"");
  hosts = with(hosts, "<cpu numaid=\"1\"", "<cpu host_hash=\"0x2\" numaid=\"1\"");
  EXPECT_THAT(messages(hosts, nvlink(300)), HasSubstr("the file holds 2 hosts"));
  EXPECT_THAT(import_errors(Source::csv, "src,dst,bandwidth\na,b,5\n", nvlink(300)),
              ElementsAre("I08"));
}

// The network's machine lacks the same.
TEST(ImportInputs, HostsOfANetworkTakeNvlinkToo) {
  ImportOptions options = nvlink(300);
  options.box_text = without_links();
  options.box_file = "ndv4.xml";
  options.nic_bandwidth = Ratio(25);
  const std::string network = "SwitchName=s0 Nodes=n[0-1]\n";
  EXPECT_THAT(arcs_of(import_fabric(Source::slurm, network, options)),
              Contains("n1/gpu7 -> n1/nvsw 300"));
  options.nvswitch.reset();
  EXPECT_THAT(import_errors(Source::slurm, network, options), Contains("I07"));
}

}  // namespace
}  // namespace forestcoll::testing
