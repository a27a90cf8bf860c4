// What a file is, NCCL's graphs, and the table of bandwidths.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

// NCCL's own rings.

const std::string kGraphs =
    "<graphs version=\"1\">\n<graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"2\" "
    "speedintra=\"12.5\" speedinter=\"10\">\n<channel><net dev=\"1\"/><gpu dev=\"0\"/>"
    "<gpu dev=\"2\"/><gpu dev=\"1\"/><net dev=\"3\"/></channel>\n<channel><gpu dev=\"2\"/>"
    "<gpu dev=\"0\"/><gpu dev=\"1\"/></channel></graph>\n<graph id=\"1\" pattern=\"1\" "
    "speedintra=\"6\" speedinter=\"6\"/></graphs>\n";

TEST(NcclGraphs, ChannelsListTheirDevices) {
  const auto graphs = read_nccl_graph(kGraphs, "graph.xml");
  ASSERT_TRUE(graphs);
  ASSERT_EQ(graphs->size(), 2U);
  const NcclGraph& ring = graphs->front();
  EXPECT_EQ(ring.id, 0);
  EXPECT_EQ(ring.pattern, 4);
  EXPECT_EQ(ring.speed_intra, Ratio(25, 2));
  EXPECT_EQ(ring.speed_inter, Ratio(10));
  ASSERT_EQ(ring.channels.size(), 2U);
  EXPECT_THAT(ring.channels[0].gpus, ElementsAre(0, 2, 1));
  EXPECT_EQ(ring.channels[0].net_in, 1);
  EXPECT_EQ(ring.channels[0].net_out, 3);
  EXPECT_EQ(ring.channels[1].net_in, std::nullopt);
  EXPECT_THAT(graphs->back().channels, IsEmpty());
}

// As newer releases write them.
TEST(NcclGraphs, DevicesAreHexadecimalWithAPrefix) {
  const auto graphs =
      read_nccl_graph(with(kGraphs, "<gpu dev=\"2\"/>", "<gpu dev=\"0x1f\"/>"), "graph.xml");
  ASSERT_TRUE(graphs);
  EXPECT_THAT(graphs->front().channels[0].gpus, ElementsAre(0, 31, 1));
}

TEST(NcclGraphs, BrokenOnesAreRefused) {
  const auto errors = [](const std::string& text) {
    const auto graphs = read_nccl_graph(text, "graph.xml");
    return graphs ? std::vector<std::string>{"read"} : codes_of(graphs.errors());
  };
  EXPECT_THAT(errors("<system/>"), ElementsAre("I01"));
  EXPECT_THAT(errors(with(kGraphs, "gpu dev=\"2\"", "gpu dev=\"x\"")), ElementsAre("I03 3:39"));
  EXPECT_THAT(errors(with(kGraphs, "gpu dev=\"2\"", "gpu dev=\"0x\"")), ElementsAre("I03 3:39"));
  EXPECT_THAT(errors(with(kGraphs, "speedintra=\"12.5\"", "speedintra=\"-1\"")),
              ElementsAre("I03 2:2"));
  EXPECT_THAT(errors(with(kGraphs, "pattern=\"1\"", "")), ElementsAre("I03 5:2"));
  EXPECT_THAT(errors(with(kGraphs, "</channel></graph>", "</channel><channel/></graph>")),
              ElementsAre(HasSubstr("I02 4:")));
  EXPECT_THAT(errors(kGraphs.substr(0, 100)), ElementsAre(HasSubstr("I02 ")));
  EXPECT_THAT(errors(""), ElementsAre("E01"));
  EXPECT_THAT(import_errors(Source::nccl_graph, kGraphs), ElementsAre("I08"));
  EXPECT_EQ(detect_source(kGraphs), Source::nccl_graph);
}

// Options.

TEST(ImportOptions, WithoutAnyUseAreRefused) {
  const std::string smi = "GPU0 GPU1\nGPU0 X NV12\nGPU1 NV12 X\n";
  const std::string nccl = NvswitchDump{}.text();
  const std::string csv = "src,dst,bandwidth\na,b,5\n";
  const std::string slurm = "SwitchName=s0 Nodes=n[0-1]\n";
  const Ratio ten = 10;
  const std::vector<std::tuple<Source, std::string, ImportOptions, std::string>> cases = {
      {Source::nccl, nccl, {.gpu = "a100"}, "`gpu`: "},
      {Source::nccl, nccl, {.nic_bandwidth = ten}, "`nic_bandwidth`: no NIC is linked on"},
      {Source::nccl,
       nccl,
       {.nic_bandwidth = ten, .boxes = 2, .fabric = "rail"},
       "`nic_bandwidth`: the speeds of all NICs are known"},
      {Source::nccl, nccl, {.compute = "*"}, "`compute`: "},
      {Source::nccl, nccl, {.box_text = nccl}, "`box`: "},
      {Source::nccl, nccl, {.uplinks = 2}, "`uplinks`: "},
      {Source::nccl, nccl, {.uplink_bandwidth = ten}, "`uplink_bandwidth`: "},
      {Source::nvidia_smi, smi, {.gpu = "a100", .split_nvswitch = true}, "`split_nvswitch`: "},
      {Source::hwloc, "<topology/>", {.constants = LinkConstants::nccl}, "`bandwidths`: "},
      {Source::csv, csv, {.constants = LinkConstants::nominal}, "`bandwidths`: "},
      {Source::csv, csv, {.gpu = "a100"}, "`gpu`: "},
      {Source::csv, csv, {.nic_bandwidth = ten}, "`nic_bandwidth`: "},
      {Source::csv, csv, {.split_nvswitch = true}, "`split_nvswitch`: "},
      {Source::csv, csv, {.pcie_p2p = true}, "`pcie_p2p`: "},
      {Source::csv, csv, {.host = "h"}, "`host`: "},
      {Source::slurm, slurm, {.gpu = "a100", .box_text = nccl}, "`gpu`: "},
      {Source::hwloc, "<topology/>", {.compute = "*"}, "`compute`: "},
      {Source::slurm, slurm, {.host = "h", .box_text = nccl}, "`host`: "},
      {Source::ibnetdiscover,
       "Switch 4 \"S-1\" # \"s\"\n",
       {.box_text = nccl, .uplinks = 2},
       "`uplinks`: "}};
  for (const auto& [source, text, options, message] : cases) {
    EXPECT_THAT(import_errors(source, text, options), Contains("I08")) << message;
    EXPECT_THAT(import_messages(source, text, options), HasSubstr(message));
  }
}

TEST(ImportOptions, TheDescriptionNamesTheSourceAlone) {
  const std::string smi = "GPU0 GPU1\nGPU0 X NV12\nGPU1 NV12 X\n";
  EXPECT_THAT(import_valid(Source::nvidia_smi, smi, {.gpu = "a100"}).document.description,
              HasSubstr("nvidia-smi topo -m. "));
}

TEST(ImportOptions, AModelOfGpuIsTakenInAnyCase) {
  const std::string smi = "GPU0 GPU1\nGPU0 X NV12\nGPU1 NV12 X\n";
  const auto file_of = [&](const std::string& gpu) {
    return to_topology_json(import_valid(Source::nvidia_smi, smi, {.gpu = gpu}).document);
  };
  EXPECT_EQ(file_of("A100"), file_of("a100"));
}

// Detection and the table of bandwidths.

TEST(ImportSources, HaveNamesThatFindThem) {
  for (const SourceInfo& info : import_sources()) {
    EXPECT_EQ(find_source(info.name), info.source);
    EXPECT_EQ(info_of(info.source).name, info.name);
  }
  EXPECT_EQ(find_source("visio"), std::nullopt);
}

TEST(ImportSources, ContentTells) {
  EXPECT_EQ(detect_source("<!-- c -->\n<system version=\"2\">"), Source::nccl);
  EXPECT_EQ(detect_source("<?xml version='1.0'?><!DOCTYPE topology><topology>"), Source::hwloc);
  EXPECT_EQ(detect_source("#\n# Topology file: generated\n#\nvendid=0x2c9\n"),
            Source::ibnetdiscover);
  EXPECT_EQ(detect_source("# x\nSwitchName=s0 Nodes=a\n"), Source::slurm);
  EXPECT_EQ(detect_source("\t\tGPU0\tGPU1\n"), Source::nvidia_smi);
  EXPECT_EQ(detect_source("strict digraph x {}"), Source::dot);
  EXPECT_EQ(detect_source("source,target,capacity\n"), Source::csv);
  for (const std::string text :
       {"", "{", "[]", "{\"format\":\"forestcoll-topology\",\"nodes\":[],\"edges\":[]}", "<html>",
        "<", "graph theory", "GPU", "1 2 3\nfoo", "{\"nodes\":[],\"links\":[]}"}) {
    EXPECT_EQ(detect_source(text), std::nullopt) << text;
  }
}

TEST(ImportBandwidths, AreReadByKind) {
  const auto table = read_bandwidths("kind,bandwidth\nnvlink,25\nnic, 200 Gb/s\n", "b.csv");
  ASSERT_TRUE(table);
  EXPECT_THAT(*table, ElementsAre(std::pair("nvlink", Ratio(25)), std::pair("nic", Ratio(25))));
  const auto errors = [](const std::string& text) {
    return codes_of(read_bandwidths(text, "b.csv").errors());
  };
  EXPECT_THAT(errors("nvlink,25\nwire,3\n"), ElementsAre("I03 2:1"));
  EXPECT_THAT(errors("nvlink,0\n"), ElementsAre("I03 1:1"));
  EXPECT_THAT(errors("nvlink,fast\n"), ElementsAre("I03 1:1"));
  EXPECT_THAT(errors("nvlink,25\nnic,25\nnvlink,30\n"), ElementsAre("I03 3:1"));
  EXPECT_THAT(errors("nvlink\n"), ElementsAre("I02 1:1"));
  EXPECT_THAT(errors("\"nvlink,25\n"), ElementsAre("I02"));
  EXPECT_THAT(errors(""), ElementsAre("E01"));
}

}  // namespace
}  // namespace forestcoll::testing
