// Several hosts in one file of NCCL's, as it writes them where NVLink joins hosts.
#include "import_testing.hpp"

namespace forestcoll::testing {
namespace {

// A host for each list of ranks, a GPU for each rank.
std::string hosts_of(const std::vector<std::vector<int>>& hosts) {
  std::string text = "<system version=\"1\">\n";
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    text += fmt::format("<cpu host_hash=\"0x{:x}\" numaid=\"0\">\n", host + 10);
    int dev = 0;
    for (const int rank : hosts[host]) {
      text += fmt::format(
          "<pci busid=\"{}\" class=\"0x030200\"><gpu dev=\"{}\" sm=\"100\"{}><nvlink "
          "target=\"fffffff:ff:ff\" count=\"18\" tclass=\"0x068000\"/></gpu></pci>\n",
          bus_id(dev), dev, rank < 0 ? "" : fmt::format(" rank=\"{}\"", rank));
      ++dev;
    }
    text += "</cpu>\n";
  }
  return text + "</system>\n";
}

std::vector<std::string> rank_ids(const Topology& topology) {
  std::vector<std::string> ids;
  for (const NodeId node : topology.ranks) ids.push_back(topology.nodes[node].id);
  return ids;
}

TEST(ImportHosts, ShareAnNvswitchByAGuess) {
  const std::string text = hosts_of({{0, 1, 2, 3}, {4, 5, 6, 7}});
  const Imported imported = import_valid(kNccl, text);
  EXPECT_EQ(imported.document.templates.size(), 1U);
  EXPECT_EQ(imported.document.boxes.size(), 2U);
  EXPECT_THAT(imported.document.rank_order, IsEmpty());
  EXPECT_THAT(imported.report.guesses, ElementsAre(HasSubstr("one common NVSwitch")));
  EXPECT_THAT(imported.document.metadata, Contains(Pair("guess 1", HasSubstr("NVSwitch"))));
  const Topology fabric = import_fabric(kNccl, text);
  EXPECT_EQ(fabric.ranks.size(), 8U);
  EXPECT_THAT(arcs_of(fabric), Contains("box1/gpu3 -> nvsw 3609/5"));
  EXPECT_THAT(import_errors(kNccl, text, {.boxes = 2, .fabric = "rail"}), ElementsAre("I08"));
  std::string visible = text;
  for (std::size_t at; (at = visible.find("fffffff:ff:ff")) != std::string::npos;) {
    visible.replace(at, 13, "0000:ab:00.0");
  }
  EXPECT_THAT(import_errors(kNccl, visible, {.split_nvswitch = true}), ElementsAre("I08"));
}

TEST(ImportHosts, RanksCountOverAllOfThem) {
  using Hosts = std::vector<std::vector<int>>;
  for (const Hosts& hosts :
       {Hosts{{0, 1}, {2, 3}}, Hosts{{2, 3}, {0, 1}}, Hosts{{0, 2}, {1, 3}}, Hosts{{0, 1}, {3, 2}},
        Hosts{{0, 1}, {2}, {3, 4}}, Hosts{{7, 20}, {10, 3}}}) {
    std::map<int, std::string> expected;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      for (std::size_t gpu = 0; gpu < hosts[host].size(); ++gpu) {
        expected[hosts[host][gpu]] = fmt::format("box{}/gpu{}", host, gpu);
      }
    }
    std::vector<std::string> ids;
    for (const auto& [rank, id] : expected) ids.push_back(id);
    EXPECT_EQ(rank_ids(import_fabric(kNccl, hosts_of(hosts))), ids);
  }
}

TEST(ImportHosts, RanksThatDoNotCountOverAllAreAGuess) {
  for (const auto& [hosts, guess] :
       {std::pair(std::vector<std::vector<int>>{{1, 0}, {0, 1}}, "gives 2 ranks to 4 GPUs"),
        {{{1, 0}, {2, -1}}, "gives 3 ranks to 4 GPUs"}}) {
    const std::string text = hosts_of(hosts);
    EXPECT_THAT(import_valid(kNccl, text).report.guesses, Contains(HasSubstr(guess)));
    EXPECT_THAT(rank_ids(import_fabric(kNccl, text)),
                ElementsAre("box0/gpu0", "box0/gpu1", "box1/gpu0", "box1/gpu1"));
  }
  EXPECT_EQ(import_valid(kNccl, hosts_of({{-1, -1}, {-1, -1}})).report.guesses.size(), 1U);
}

TEST(ImportHosts, MetadataNamesTheGpusOfEach) {
  const Imported imported = import_valid(kNccl, hosts_of({{0, 2}, {1, 3}}));
  EXPECT_THAT(imported.document.metadata,
              AllOf(Contains(std::pair("box0/gpu1", bus_id(1) + ", rank 2")),
                    Contains(std::pair("box1/gpu0", bus_id(0) + ", rank 1"))));
}

}  // namespace
}  // namespace forestcoll::testing
