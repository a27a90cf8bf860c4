// What the tests of the importers share: files of machines, written here, and what they become.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "forestcoll/import.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "support/valid.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {

// The matchers that tests of importers speak with.
using ::testing::Each;
using ::testing::Pair;

constexpr Source kNccl = Source::nccl;

/// "I03 4:7" for each finding, errors first.
inline std::vector<std::string> import_errors(Source source, const std::string& text,
                                              const ImportOptions& options = {}) {
  const auto imported = import_topology(source, text, "dump", options);
  return imported ? std::vector<std::string>{"imported"} : codes_of(imported.errors());
}

/// All messages and remedies of a refused import, in one text.
inline std::string import_messages(Source source, const std::string& text,
                                   const ImportOptions& options = {}) {
  const auto imported = import_topology(source, text, "dump", options);
  if (imported) return "imported";
  std::string all;
  for (const Diagnostic& error : imported.errors()) all += to_string(error) + "\n";
  return all;
}

inline Imported import_valid(Source source, const std::string& text,
                             const ImportOptions& options = {}) {
  return test::valid(import_topology(source, text, "dump", options));
}

inline Topology import_fabric(Source source, const std::string& text,
                              const ImportOptions& options = {}) {
  const Imported imported = import_valid(source, text, options);
  return parse_valid(to_topology_json(imported.document));
}

/// What an allgather moves at best, GB/s.
inline Ratio allgather(const Topology& topology) {
  const auto network = to_digraph(topology);
  if (!network || topology.ranks.size() < 2) {
    ADD_FAILURE() << "no network";
    return 0;
  }
  const Rate rate = optimal_rate(*network, uniform_weights(*network));
  return Ratio(static_cast<std::int64_t>(topology.ranks.size())) * network->unit / rate.inverse;
}

/// "gpu0 -> nvsw 300" for every direction of every pair, by ids.
inline std::vector<std::string> arcs_of(const Topology& topology) {
  const auto network = to_digraph(topology);
  std::vector<std::string> arcs;
  if (!network) return arcs;
  for (std::size_t a = 0; a < network->graph.arc_count(); ++a) {
    const ArcId arc(a);
    const Ratio bandwidth = Ratio(network->capacity[arc]) * network->unit;
    arcs.push_back(fmt::format("{} -> {} {}", topology.nodes[network->graph.tail(arc)].id,
                               topology.nodes[network->graph.head(arc)].id, bandwidth.to_string()));
  }
  std::sort(arcs.begin(), arcs.end());
  return arcs;
}

/// Links between two GPUs, and how many.
using Count = std::tuple<int, int, int>;

inline std::string bus_id(int gpu) {
  return fmt::format("0000:{:02x}:00.0", 16 * gpu + 3);
}

/// RCCL's file of GPUs that xGMI joins, each on a CPU of its own with a NIC.
inline std::string rccl_dump(int gpus, const std::vector<Count>& links, const std::string& gcn,
                             const std::string& nic_speed = "200000") {
  std::string text = "<system version=\"2\">\n";
  for (int gpu = 0; gpu < gpus; ++gpu) {
    text += fmt::format(
        "<cpu numaid=\"{0}\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"175\" "
        "modelid=\"1\">\n<pci busid=\"{1}\" class=\"0x038000\" link_speed=\"16.0 GT/s PCIe\" "
        "link_width=\"16\">\n<gpu dev=\"{0}\" gcn=\"{2}\" rank=\"{0}\">\n",
        gpu, bus_id(gpu), gcn);
    for (const auto& [a, b, count] : links) {
      if (a != gpu && b != gpu) continue;
      text += fmt::format("<xgmi target=\"{}\" count=\"{}\" tclass=\"0x038000\"/>\n",
                          bus_id(a == gpu ? b : a), count);
    }
    text += fmt::format(
        "</gpu>\n</pci>\n<pci busid=\"0000:{0:02x}:01.0\" class=\"0x020700\" "
        "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"><nic><net name=\"mlx5_{0}\" dev=\"{0}\" "
        "speed=\"{1}\"/></nic></pci>\n</cpu>\n",
        gpu, nic_speed);
  }
  return text + "</system>\n";
}

inline std::vector<Count> full_mesh(int gpus) {
  std::vector<Count> links;
  for (int a = 0; a < gpus; ++a) {
    for (int b = a + 1; b < gpus; ++b) links.emplace_back(a, b, 1);
  }
  return links;
}

/// NCCL's file of one CPU with two PCIe switches, each with two GPUs of NVSwitch and a NIC.
struct NvswitchDump {
  std::string sm = "80";
  std::array<std::string, 4> count = {"12", "12", "12", "12"};
  std::string target = "fffffff:ff:ff.0";
  std::string nic_speed = "200000";
  std::string pcie = R"(link_speed="16 GT/s" link_width="16")";

  [[nodiscard]] std::string text() const {
    std::string xml =
        "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" "
        "familyid=\"6\" modelid=\"85\">\n";
    for (int half = 0; half < 2; ++half) {
      xml += fmt::format("<pci busid=\"0000:0{}:00.0\" class=\"0x060400\" {}>\n", half + 1, pcie);
      for (int gpu = 2 * half; gpu < 2 * half + 2; ++gpu) {
        xml += fmt::format(
            "<pci busid=\"{0}\" class=\"0x030200\" {1}>\n<gpu dev=\"{2}\" sm=\"{3}\" "
            "rank=\"{2}\" gdr=\"1\">\n<nvlink target=\"{4}\" count=\"{5}\" "
            "tclass=\"0x068000\"/>\n</gpu>\n</pci>\n",
            bus_id(gpu), pcie, gpu, sm, target, count[static_cast<std::size_t>(gpu)]);
      }
      xml += fmt::format(
          "<pci busid=\"0000:0{0}:05.0\" class=\"0x020700\" {1}>\n<nic>\n<net name=\"mlx5_{2}\" "
          "dev=\"{2}\" speed=\"{3}\" port=\"1\"/>\n</nic>\n</pci>\n</pci>\n",
          half + 1, pcie, half, nic_speed);
    }
    return xml + "</cpu>\n</system>\n";
  }
};

/// `text` with one part of it replaced.
inline std::string with(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

/// The text with every `what` replaced.
inline std::string everywhere(std::string text, const std::string& what, const std::string& by) {
  EXPECT_NE(text.find(what), std::string::npos) << what;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace forestcoll::testing
