// `forestcoll topo import`, and the other commands on files that are not ours, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "cli/program.hpp"
#include "topology/import/import_testing.hpp"

namespace forestcoll::testing {
namespace {

const std::string kSmi = "GPU0 GPU1 NIC0\nGPU0 X NV12 PIX\nGPU1 NV12 X PIX\nNIC0 PIX PIX X\n";

// Every command that takes a dump in place of a topology file, which comes last.
std::vector<std::vector<std::string>> readers_of_dumps(const Scratch& scratch) {
  return {{"bound"},
          {"compare", "--sizes", "1M"},
          {"synth", "-k", "auto", "-o", scratch / "x.xml"},
          {"topo", "import", "auto"},
          {"topo", "show"},
          {"topo", "check"},
          {"topo", "convert", "--to", "csv"}};
}

TEST(TopoImport, WritesAFileThatBoundReads) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.xml", NvswitchDump{}.text());
  const std::string out = scratch / "box.json";
  const auto imported = run_well({"topo", "import", "nccl", dump, "-o", out});
  EXPECT_THAT(imported.out, IsEmpty());
  EXPECT_THAT(imported.err, AllOf(HasSubstr("understood: 4 GPUs, 48 nvlink links of 20 GB/s"),
                                  HasSubstr("left out: 2 NICs")));
  const auto bound = json_of({"bound", out, "--json"});
  EXPECT_EQ(bound["algbw"]["allgather"]["exact"], "320");
  // The dump itself is as good.
  const auto straight = run_well({"bound", dump, "--json"});
  EXPECT_EQ(nlohmann::json::parse(straight.out)["algbw"], bound["algbw"]);
  EXPECT_THAT(straight.err, HasSubstr("left out: 2 NICs: mlx5_0, mlx5_1"));
}

// A rate without the links that are left out is to be doubted, whichever command prints it.
TEST(TopoImport, EveryCommandSaysWhatIsLeftOut) {
  const Scratch scratch;
  const std::string dump =
      scratch.write("dump.xml", with(rccl_dump(3, full_mesh(3), "908"),
                                     "target=\"" + bus_id(2) + "\"", "target=\"0000:ee:00.0\""));
  const std::string said = "left out: 1 xgmi link to GPUs that the file does not have";
  for (std::vector<std::string> command : readers_of_dumps(scratch)) {
    command.push_back(dump);
    const auto result = run(command);
    EXPECT_EQ(result.code, 0) << command.front() << result.err;
    const std::size_t first = result.err.find(said);
    EXPECT_NE(first, std::string::npos) << command.front() << result.err;
    EXPECT_EQ(result.err.find(said, first + 1), std::string::npos) << "said once";
  }
}

TEST(TopoImport, KnownOptimaWithTheirTrees) {
  const Scratch scratch;
  const std::string mesh = scratch.write("mesh.xml", rccl_dump(8, full_mesh(8), "gfx942"));
  const auto bound = json_of({"bound", mesh, "--json"});
  EXPECT_EQ(bound["algbw"]["allgather"]["exact"], "384");
  EXPECT_EQ(bound["k"], 1);
}

TEST(TopoImport, AFileOfOurOwnIsReadAgain) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.xml", NvswitchDump{}.text());
  const auto out =
      run_well({"topo", "import", "auto", dump, "--boxes", "2", "--fabric", "rail", "-q"});
  EXPECT_THAT(out.err, IsEmpty());
  const auto again = run_well({"bound", "-", "--json"}, {.input = out.out});
  EXPECT_EQ(nlohmann::json::parse(again.out)["compute_nodes"], 8);
}

TEST(TopoImport, ReportsAsJson) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.txt", kSmi);
  const auto json =
      json_of({"topo", "import", "auto", dump, "--gpu", "a100", "--nic-bandwidth", "200Gbps",
               "--boxes", "2", "--fabric", "single", "--json", "-o", scratch / "x"},
              "forestcoll-import.schema.json");
  EXPECT_EQ(json["source"], "nvidia-smi");
  EXPECT_EQ(json["compute_nodes"], 4);
  EXPECT_THAT(read_file(scratch / "x"), HasSubstr("\"bandwidth\": 25, \"duplex\""));
  EXPECT_EQ(json["guesses"].size(), 2U);
  expect_says(2, {"topo", "import", "auto", dump, "--gpu", "a100", "--json"}, "I08");
}

TEST(TopoImport, GuessesArePrintedAsGuesses) {
  const Scratch scratch;
  const std::string csv = scratch.write("g.csv", "src,dst,bandwidth\na,b,5\nb,c,5\n");
  const auto imported = run_well({"topo", "import", "csv", csv});
  EXPECT_THAT(imported.err, AllOf(HasSubstr("guessed: every node is a GPU"),
                                  HasSubstr("guessed: every line is both directions")));
  expect_says(0, {"bound", csv}, "guessed: every node is a GPU");
}

TEST(TopoImport, BandwidthsComeFromAFileOrAName) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.xml", NvswitchDump{}.text());
  const std::string table = scratch.write("b.csv", "kind,bandwidth\nnvlink,30\n");
  const auto with_table = run({"topo", "import", "auto", dump, "--bandwidths", table});
  EXPECT_THAT(with_table.out, HasSubstr("\"bandwidth\": 30, \"count\": 12"));
  const auto nominal = run({"topo", "import", "auto", dump, "--bandwidths", "nominal"});
  EXPECT_THAT(nominal.out, HasSubstr("\"bandwidth\": 25, \"count\": 12"));
  const auto absent = run({"topo", "import", "auto", dump, "--bandwidths", scratch / "none.csv"});
  EXPECT_EQ(absent.code, 4);
  const auto wrong = run({"topo", "import", "auto", dump, "--bandwidths", dump});
  EXPECT_EQ(wrong.code, 2);
}

TEST(TopoImport, ClustersJoinABoxToTheirNetwork) {
  const Scratch scratch;
  const std::string box = scratch.write("box.xml", rccl_dump(2, full_mesh(2), "908"));
  const std::string conf = scratch.write("topology.conf",
                                         "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\n"
                                         "SwitchName=top Switches=s[0-1]\n");
  const auto imported = run_well(
      {"topo", "import", "auto", conf, "--box", box, "--uplinks", "2", "--uplink-bandwidth", "50"});
  EXPECT_THAT(imported.out, HasSubstr("\"n[0-1]/nic[0-1]\", \"dst\": \"s0\""));
  expect_says(2, {"bound", conf}, "forestcoll topo import slurm");
}

TEST(TopoImport, RefusalsNameTheFileAndLeaveNothing) {
  const Scratch scratch;
  const std::string text = NvswitchDump{}.text();
  const std::string cut = scratch.write("cut.xml", text.substr(0, 700));
  const auto imported = run({"topo", "import", "auto", cut, "-o", scratch / "out.json"});
  EXPECT_EQ(imported.code, 2);
  EXPECT_THAT(imported.err,
              AllOf(HasSubstr("cut.xml: "), HasSubstr("not well-formed XML"), HasSubstr("[I02]")));
  EXPECT_THAT(scratch.names(), ElementsAre("cut.xml"));
  EXPECT_EQ(run({"topo", "import", "auto", scratch / "none"}).code, 4);
  expect_says(2, {"topo", "import", "auto", topology("dgx-a100-x1")}, "none of the formats");
  expect_says(2, {"bound", scratch.write("x.html", "<html></html>")}, "[I01]");
  EXPECT_EQ(run({"topo", "import", "visio", cut}).code, 2);
  EXPECT_EQ(run({"topo", "import", "auto", cut, "--nic-bandwidth", "fast"}).code, 2);
  EXPECT_EQ(run({"topo", "import", "auto", cut, "--uplink-bandwidth", "-1"}).code, 2);
  const auto foreign = run({"topo", "import", "dot", scratch.write("g.dot", kSmi)});
  EXPECT_EQ(foreign.code, 2);
}

TEST(TopoImport, OneWayPcieNodesRaiseNoWarnings) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.xml", NvswitchDump{}.text());
  const std::string out = scratch / "x.json";
  const auto imported =
      run_well({"topo", "import", "auto", dump, "--boxes", "2", "--fabric", "rail", "-o", out});
  EXPECT_THAT(imported.err, Not(HasSubstr("warning")));
  const auto again = run_well({"topo", "check", out});
  EXPECT_THAT(again.err, IsEmpty());
  // Nor where a NIC is gone, and the PCIe switches before it lead nowhere.
  const auto dropped = run_well({"bound", out, "--drop", "box0/nic0"});
  EXPECT_THAT(dropped.err, AllOf(HasSubstr("dropped box0/nic0"), Not(HasSubstr("[W01]"))));
}

TEST(TopoImport, WithoutNvlinkPcieJoinsTheRails) {
  const Scratch scratch;
  const std::string dump =
      scratch.write("dump.txt",
                    "GPU0 GPU1 NIC0 NIC1\nGPU0 X SYS PIX SYS\nGPU1 SYS X SYS PIX\n"
                    "NIC0 PIX SYS X SYS\nNIC1 SYS PIX SYS X\n");
  const std::vector<std::string> command = {
      "topo", "import",  "auto", dump,      "--gpu", "a100", "--nic-bandwidth",
      "25",   "--boxes", "2",    "--fabric"};
  const auto with_fabric = [&](const std::string& name) {
    auto words = command;
    words.push_back(name);
    return run(words);
  };
  const auto rails = with_fabric("rail");
  EXPECT_EQ(rails.code, 0) << rails.err;
  EXPECT_THAT(rails.err, HasSubstr("PCIe and the CPUs are the way between them"));
  EXPECT_EQ(with_fabric("single").code, 0);
}

// The machines of most people: two L4 on each of two sockets, of which no NVLink joins any.
std::string two_sockets() {
  std::string text = "<system version=\"1\">\n";
  for (int socket = 0; socket < 2; ++socket) {
    text += fmt::format(
        "<cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" "
        "modelid=\"85\">\n",
        socket);
    for (int gpu = 2 * socket; gpu < 2 * socket + 2; ++gpu) {
      text += fmt::format(
          "<pci busid=\"{}\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">"
          "<gpu dev=\"{}\" sm=\"89\"/></pci>\n",
          bus_id(gpu), gpu);
    }
    text += "</cpu>\n";
  }
  return text + "</system>\n";
}

// The CPUs' 10 GB/s for the two GPUs of a socket: 4 * 10 / 2.
TEST(TopoImportLong, EveryCommandTakesPcieWhereNothingElseJoinsTheGpus) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.xml", two_sockets());
  const std::string said =
      "no NVLink or xGMI joins any two of the 4 GPUs: PCIe and the CPUs are the way between them. "
      "By these bandwidths an allgather over them moves 20 GB/s at best (data of the 2 GPUs";
  for (std::vector<std::string> command : readers_of_dumps(scratch)) {
    command.push_back(dump);
    const auto result = run(command);
    EXPECT_EQ(result.code, 0) << command.front() << result.err;
    EXPECT_THAT(result.err, HasSubstr(said)) << command.front();
  }
  run_well({"verify", scratch / "x.xml", "--topology", dump});
  const auto bound = run({"bound", dump, "--json", "-q"});
  EXPECT_EQ(nlohmann::json::parse(bound.out)["algbw"]["allgather"]["exact"], "20");
  const auto imported = run({"topo", "import", "auto", dump, "--json", "-o", scratch / "x.json"});
  const auto json = nlohmann::json::parse(imported.out);
  expect_valid(json, "forestcoll-import.schema.json");
  EXPECT_EQ(json["findings"][0]["code"], "I25");
}

// Two hives of four: 16 GB/s of the CPUs for four GPUs, where xGMI alone moves 3 * 24 * 4 / 3.
TEST(TopoImport, WhatPcieCostsIsSaidBesideWhatTheLinksAloneMove) {
  std::string text = "<system version=\"2\">\n";
  for (int hive = 0; hive < 2; ++hive) {
    text += fmt::format(
        "<cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"175\" "
        "modelid=\"1\">\n",
        hive);
    for (int gpu = 4 * hive; gpu < 4 * hive + 4; ++gpu) {
      text += fmt::format(
          "<pci busid=\"{}\" class=\"0x038000\" link_speed=\"16 GT/s\" link_width=\"16\">"
          "<gpu dev=\"{}\" gcn=\"906\">",
          bus_id(gpu), gpu);
      for (int peer = 4 * hive; peer < 4 * hive + 4; ++peer) {
        if (peer != gpu) text += fmt::format("<xgmi target=\"{}\" count=\"1\"/>", bus_id(peer));
      }
      text += "</gpu></pci>\n";
    }
    text += "</cpu>\n";
  }
  const Scratch scratch;
  const auto bound = run_well({"bound", scratch.write("hives.xml", text + "</system>\n")});
  EXPECT_THAT(bound.err,
              AllOf(HasSubstr("joins gpu[0-3] and gpu[4-7]"), HasSubstr("moves 32 GB/s at best"),
                    HasSubstr("one over gpu[0-3] alone, without PCIe, 96 GB/s")));
}

std::string cloud_file() {
  std::string text = "<system version=\"1\"><cpu numaid=\"0\" vendor=\"AuthenticAMD\">\n";
  for (int gpu = 0; gpu < 8; ++gpu) {
    text += fmt::format(
        "<pci busid=\"000{}:00:00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" "
        "link_width=\"16\"/>\n",
        gpu + 1);
  }
  return text + "</cpu></system>\n";
}

TEST(TopoImport, WhatCloudsLeaveToNcclIsGivenWhereAScheduleIsJudged) {
  const Scratch scratch;
  const std::string file = scratch.write("cloud.xml", cloud_file()), xml = scratch / "x.xml";
  ASSERT_EQ(run({"synth", "-k", "auto", file, "--box", "dgx-a100", "-o", xml}).code, 0);
  EXPECT_EQ(run({"verify", xml, "--topology", file}).code, 2);
  const auto verdict = run_well({"verify", xml, "--topology", file, "--box", "dgx-a100"});
  EXPECT_THAT(verdict.out, HasSubstr("on the topology"));
  run_well({"simulate", xml, file, "--nvlink", "nvswitch=300", "--sizes", "1M"});
  const auto idle = run({"verify", xml, "--nvlink", "nvswitch=300"});
  EXPECT_EQ(idle.code, 2);
  EXPECT_THAT(idle.err, AllOf(HasSubstr("[S04]"), HasSubstr("--topology")));
}

TEST(TopoImportLong, WhatCloudsLeaveToNcclIsGivenToEveryCommand) {
  const Scratch scratch;
  const std::string file = scratch.write("cloud.xml", cloud_file());
  const auto refused = run({"bound", file});
  EXPECT_EQ(refused.code, 2);
  // Nothing in the file tells what the GPUs are, so neither a rate nor a machine is named for them.
  EXPECT_THAT(refused.err, AllOf(HasSubstr("[I07]"), HasSubstr("no links of its 8 GPUs"),
                                 HasSubstr("Give them: --nvlink nvswitch=RATE (GB/s"),
                                 HasSubstr("or --box NAME (the machine with such GPUs")));
  const auto algbw = [&](const std::vector<std::string>& options) {
    const auto bound = json_of(joined({"bound", file, "--json"}, options));
    return bound["algbw"]["allgather"]["exact"].get<std::string>();
  };
  EXPECT_EQ(algbw({"--nvlink", "nvswitch=300"}), "2400/7");
  EXPECT_EQ(algbw({"--nvlink", "nvswitch=2400 Gb/s"}), "2400/7");
  EXPECT_EQ(algbw({"--box", "dgx-a100"}), "2400/7");
  EXPECT_EQ(algbw({"--box", topology("dgx-a100-x1")}), "2400/7");
  EXPECT_EQ(algbw({"--pcie-p2p"}), "192/7");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"synth", "-k", "auto", "-o", scratch / "x.xml"},
        {"compare", "--sizes", "1M"},
        {"topo", "show"},
        {"topo", "check"},
        {"topo", "import", "auto"},
        {"topo", "convert", "--to", "csv"}}) {
    auto words = command;
    words.insert(words.end(), {file, "--nvlink", "nvswitch=300"});
    const auto result = run(words);
    EXPECT_EQ(result.code, 0) << command.front() << result.err;
  }
}

// Six of twelve NVLinks of GPU 3, as `nvidia-smi nvlink -s -i 3` prints them.
std::string half_of_the_nvlinks() {
  std::string text = "GPU 3: NVIDIA A100 (UUID: GPU-1)\n";
  for (int link = 0; link < 12; ++link) {
    text += "\t Link " + std::to_string(link) + (link % 2 == 0 ? ": 25 GB/s\n" : ": <inactive>\n");
  }
  return text;
}

TEST(TopoImport, HealthIsTakenFromATopology) {
  const Scratch scratch;
  const std::string cluster = scratch / "cluster.json", today = scratch / "today.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-a100", "--boxes", "2", "-o", cluster}).code, 0);
  const std::string dump = scratch.write("nvlink.txt", half_of_the_nvlinks());
  const auto result =
      run_well({"topo", "import", "auto", cluster, "--health", "box1=" + dump, "-o", today});
  EXPECT_THAT(result.err, AllOf(HasSubstr("box1/gpu3: 6 of 12 NVLinks are down"),
                                HasSubstr("as options: --drop box1/gpu3~box1/nvsw*6")));
  // The same as with these options, source and all.
  const auto dropped = run({"topo", "convert", cluster, "--drop", "box1/gpu3~box1/nvsw*6", "--to",
                            "topology", "-o", "-"});
  EXPECT_EQ(read_file(today), dropped.out);
  EXPECT_THAT(read_file(today), HasSubstr("NVIDIA DGX A100 datasheet"));

  const auto report = json_of({"topo", "import", "auto", cluster, "--health", "box1=" + dump,
                               "--health", "box0/gpu[0-7]=" + dump, "-o", today, "--json"},
                              "forestcoll-import.schema.json");
  EXPECT_EQ(report["source"], "topology");
  ASSERT_EQ(report["health"].size(), 2U);
  EXPECT_EQ(report["health"][1]["options"][0], "--drop box0/gpu3~box0/nvsw*6");
}

TEST(TopoImport, HealthOfADumpAndWhatIsRefused) {
  const Scratch scratch;
  const std::string dump = scratch.write("nvlink.txt", half_of_the_nvlinks());
  const std::string nccl = source_path("topologies/dumps/dgx-a100.xml");
  const std::string out = scratch / "out.json";
  expect_says(0, {"topo", "import", "auto", nccl, "--health", dump, "-o", out},
              "gpu3: 6 of 12 NVLinks are down");
  std::filesystem::remove(out);

  const std::string pair = scratch / "pair.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-a100", "--boxes", "2", "-o", pair}).code, 0);
  for (const auto& [file, health, code, message] :
       std::vector<std::tuple<std::string, std::string, int, std::string>>{
           {pair, dump, 2, "[I05]"},
           {pair, "box5=" + dump, 2, "[D01]"},
           {pair, "box0=" + scratch.write("x", "x"), 2, "[I01]"},
           {pair, "box0=" + scratch / "absent", 4, "absent"},
           {pair, "-", 2, "[E01]"},
           {"-", "-", 2, "[S04]"}}) {
    const auto result = run({"topo", "import", "auto", file, "--health", health, "-o", out});
    EXPECT_EQ(result.code, code) << health << result.err;
    EXPECT_THAT(result.err, HasSubstr(message)) << health;
    EXPECT_FALSE(std::filesystem::exists(out)) << health;
  }
  expect_says(2, {"topo", "import", "auto", pair, "--health", "box0=" + dump, "-o", dump},
              "names the --health file itself [S04]");
  EXPECT_EQ(read_file(dump), half_of_the_nvlinks());
}

TEST(TopoImport, OptionsOfDumpsAreRefusedWhereTheySayNothing) {
  const Scratch scratch;
  const std::string file = scratch.write("cloud.xml", cloud_file());
  for (const auto& [options, message] :
       {std::pair(std::vector<std::string>{"--nvlink", "300"}, "--nvlink: expected nvswitch=GB/s"),
        {{"--nvlink", "nvswitch=fast"}, "--nvlink: expected nvswitch=GB/s"},
        {{"--nvlink", "nvswitch=-1"}, "--nvlink: expected nvswitch=GB/s"},
        {{"--box", "dgx-a100", "--nvlink", "nvswitch=300"}, "--nvlink and --box both"},
        {{"--box", scratch.write("empty", "")}, "--box: "},
        {{"--box", "gb200-nvl72"}, "72 GPUs, and the file 8"}}) {
    auto words = options;
    const auto result = run(joined({"bound", file}, words));
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr("[I08]"), HasSubstr(message)));
  }
  EXPECT_EQ(run({"bound", file, "--box", scratch / "none.json"}).code, 4);
  const auto ours = run({"bound", topology("dgx-a100-x1"), "--nvlink", "nvswitch=300"});
  EXPECT_EQ(ours.code, 2);
  EXPECT_THAT(ours.err, AllOf(HasSubstr("[I08]"), HasSubstr("--nvlink: the file is a topology")));
  const std::string box = scratch.write("box.json", read_file(topology("dgx-a100-x1")));
  expect_says(2, {"synth", "-k", "auto", file, "--box", box, "-o", box}, "[S04]");
}

// README's examples use it. 8 * 240 / 7 by NCCL's constants; in four boxes, 25 GB/s of eight NICs
// behind PCIe links of 24: 32 * 192 / 24.
TEST(TopoImport, TheSampleDumpIsOneOfADgxA100) {
  const Scratch scratch;
  const std::string dump = source_path("topologies/dumps/dgx-a100.xml");
  const auto alone = json_of({"bound", dump, "--json"});
  EXPECT_EQ(alone["algbw"]["allgather"]["exact"], "1920/7");
  const std::string out = scratch / "topology.json";
  const auto cluster =
      run_well({"topo", "import", "auto", dump, "--boxes", "4", "--fabric", "rail", "-o", out});
  EXPECT_THAT(cluster.err, AllOf(Not(HasSubstr("warning")), Not(HasSubstr("guess"))));
  const auto bound = run({"bound", out, "--json"});
  EXPECT_EQ(nlohmann::json::parse(bound.out)["algbw"]["allgather"]["exact"], "256");
}

TEST(TopoImport, OptionsWithoutAnyEffectAreRefused) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.xml", NvswitchDump{}.text());
  for (const auto& [options, message] :
       {std::pair(std::vector<std::string>{"--quantize", "7"}, "--quantize: "),
        {{"--gpu", "a100"}, "--gpu: this file has no use for it"},
        {{"--boxes", "-1"}, "--boxes: "}}) {
    const auto result = expect_says(2, joined({"topo", "import", "auto", dump}, options), message);
    EXPECT_THAT(result.err, Not(HasSubstr("18446744073709551615")));
    EXPECT_THAT(result.out, IsEmpty());
  }
}

TEST(TopoImport, HelpListsTheSources) {
  const auto help = run_well({"topo", "import", "--help"});
  for (const SourceInfo& info : import_sources()) EXPECT_THAT(help.out, HasSubstr(info.name));
}

}  // namespace
}  // namespace forestcoll::testing
