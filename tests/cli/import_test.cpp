// `forestcoll topo import`, and the other commands on files that are not ours, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/program.hpp"
#include "topology/import_testing.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kSmi = "GPU0 GPU1 NIC0\nGPU0 X NV12 PIX\nGPU1 NV12 X PIX\nNIC0 PIX PIX X\n";

TEST(TopoImport, WritesAFileThatBoundReads) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.xml", NvswitchDump{}.text());
  const std::string out = scratch / "box.json";
  const auto imported = run({"topo", "import", "nccl", dump, "-o", out});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.out, IsEmpty());
  EXPECT_THAT(imported.err, AllOf(HasSubstr("understood: 4 GPUs, 48 nvlink links of 20 GB/s"),
                                  HasSubstr("left out: 2 NICs")));
  const auto bound = run({"bound", out, "--json"});
  EXPECT_EQ(bound.code, 0) << bound.err;
  EXPECT_EQ(nlohmann::json::parse(bound.out)["algbw"]["allgather"]["exact"], "320");
  // The dump itself is as good.
  const auto straight = run({"bound", dump, "--json"});
  EXPECT_EQ(straight.code, 0) << straight.err;
  EXPECT_EQ(nlohmann::json::parse(straight.out)["algbw"],
            nlohmann::json::parse(bound.out)["algbw"]);
  EXPECT_THAT(straight.err, HasSubstr("left out: 2 NICs: mlx5_0, mlx5_1"));
}

// A rate without the links that are left out is to be doubted, whichever command prints it.
TEST(TopoImport, EveryCommandSaysWhatIsLeftOut) {
  const Scratch scratch;
  const std::string dump =
      scratch.write("dump.xml", with(rccl_dump(3, full_mesh(3), "908"),
                                     "target=\"" + bus_id(2) + "\"", "target=\"0000:ee:00.0\""));
  const std::string said = "left out: 1 xgmi link to GPUs that the file does not have";
  const std::vector<std::vector<std::string>> commands = {{"bound"},
                                                          {"compare"},
                                                          {"synth", "-o", scratch / "x"},
                                                          {"topo", "import", "auto"},
                                                          {"topo", "show"},
                                                          {"topo", "check"},
                                                          {"topo", "convert", "--to", "csv"}};
  for (std::vector<std::string> command : commands) {
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
  const auto bound = run({"bound", mesh, "--json"});
  ASSERT_EQ(bound.code, 0) << bound.err;
  EXPECT_EQ(nlohmann::json::parse(bound.out)["algbw"]["allgather"]["exact"], "384");
  EXPECT_EQ(nlohmann::json::parse(bound.out)["k"], 1);
}

TEST(TopoImport, AFileOfOurOwnIsReadAgain) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.xml", NvswitchDump{}.text());
  const auto out = run({"topo", "import", "auto", dump, "--boxes", "2", "--fabric", "rail", "-q"});
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.err, IsEmpty());
  const auto again = run({"bound", "-", "--json"}, {.input = out.out});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["compute_nodes"], 8);
}

TEST(TopoImport, ReportsAsJson) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.txt", kSmi);
  const auto imported =
      run({"topo", "import", "auto", dump, "--gpu", "a100", "--nic-bandwidth", "200Gbps", "--boxes",
           "2", "--fabric", "single", "--json", "-o", scratch / "x"});
  ASSERT_EQ(imported.code, 0) << imported.err;
  const auto json = nlohmann::json::parse(imported.out);
  expect_valid(json, "forestcoll-import.schema.json");
  EXPECT_EQ(json["source"], "nvidia-smi");
  EXPECT_EQ(json["compute_nodes"], 4);
  EXPECT_THAT(read_file(scratch / "x"), HasSubstr("\"bandwidth\": 25, \"duplex\""));
  EXPECT_EQ(json["guesses"].size(), 2U);
  const auto taken = run({"topo", "import", "auto", dump, "--gpu", "a100", "--json"});
  EXPECT_EQ(taken.code, 2);
  EXPECT_THAT(taken.err, HasSubstr("I08"));
}

TEST(TopoImport, GuessesArePrintedAsGuesses) {
  const Scratch scratch;
  const std::string csv = scratch.write("g.csv", "src,dst,bandwidth\na,b,5\nb,c,5\n");
  const auto imported = run({"topo", "import", "csv", csv});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.err, AllOf(HasSubstr("guess: every node is a GPU"),
                                  HasSubstr("guess: every line is both directions")));
  const auto bound = run({"bound", csv});
  EXPECT_EQ(bound.code, 0) << bound.err;
  EXPECT_THAT(bound.err, HasSubstr("a guess: every node is a GPU"));
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
  const auto imported = run(
      {"topo", "import", "auto", conf, "--box", box, "--uplinks", "2", "--uplink-bandwidth", "50"});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("\"n[0-1]/nic[0-1]\", \"dst\": \"s0\""));
  const auto without = run({"bound", conf});
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.err, HasSubstr("forestcoll topo import slurm"));
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
  const auto ours = run({"topo", "import", "auto", topology("dgx-a100-x1")});
  EXPECT_EQ(ours.code, 2);
  EXPECT_THAT(ours.err, HasSubstr("none of the formats"));
  const auto unknown = run({"bound", scratch.write("x.html", "<html></html>")});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("[I01]"));
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
      run({"topo", "import", "auto", dump, "--boxes", "2", "--fabric", "rail", "-o", out});
  EXPECT_EQ(imported.code, 0);
  EXPECT_THAT(imported.err, Not(HasSubstr("warning")));
  const auto again = run({"topo", "check", out});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, IsEmpty());
}

TEST(TopoImport, WhatNoRailJoinsIsToldWithTheOptionsThatDo) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.xml", rccl_dump(2, {}, "908"));
  const auto rails = run({"topo", "import", "auto", dump, "--boxes", "2", "--fabric", "rail"});
  EXPECT_EQ(rails.code, 2);
  EXPECT_THAT(rails.err,
              AllOf(HasSubstr("[E09]"), HasSubstr("--fabric single"), HasSubstr("--pcie-p2p")));
  EXPECT_THAT(rails.out, IsEmpty());
  EXPECT_EQ(run({"topo", "import", "auto", dump, "--boxes", "2", "--fabric", "single"}).code, 0);
}

TEST(TopoImport, OptionsWithoutAnyEffectAreRefused) {
  const Scratch scratch;
  const std::string dump = scratch.write("dump.xml", NvswitchDump{}.text());
  for (const auto& [options, message] :
       {std::pair(std::vector<std::string>{"--quantize", "7"}, "--quantize: "),
        {{"--gpu", "a100"}, "--gpu: this file has no use for it"},
        {{"--boxes", "-1"}, "--boxes: "}}) {
    std::vector<std::string> command = {"topo", "import", "auto", dump};
    command.insert(command.end(), options.begin(), options.end());
    const auto result = run(command);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_THAT(result.err, Not(HasSubstr("18446744073709551615")));
    EXPECT_THAT(result.out, IsEmpty());
  }
}

TEST(TopoImport, HelpListsTheSources) {
  const auto help = run({"topo", "import", "--help"});
  EXPECT_EQ(help.code, 0);
  for (const SourceInfo& info : import_sources()) EXPECT_THAT(help.out, HasSubstr(info.name));
}

}  // namespace
}  // namespace forestcoll::testing
