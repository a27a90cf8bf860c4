// Text for NCCL's own XML reader, which knows elements with attributes and single blanks, and
// comments.
#include <fmt/format.h>

#include <algorithm>

#include "forestcoll/nccl_graph.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/version.hpp"

namespace forestcoll {
namespace {

constexpr std::size_t kMostOfTopologyName = 60;

// Two hyphens would end a comment.
std::string name_in_comment(const Topology& topology) {
  std::string name = xml_escaped(topology.name.substr(0, kMostOfTopologyName));
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string text_of(const NcclChannel& channel) {
  const auto net = [](const std::optional<std::int64_t>& nic) {
    return nic ? fmt::format("      <net dev=\"{:#x}\"/>\n", *nic) : std::string();
  };
  std::string text = "    <channel>\n" + net(channel.net_in);
  for (const std::int64_t gpu : channel.gpus) {
    text += fmt::format("      <gpu dev=\"{:#x}\"/>\n", gpu);
  }
  return text + net(channel.net_out) + "    </channel>\n";
}

bool are_same(const NcclGraph& graph) {
  return std::ranges::all_of(graph.channels, [&](const NcclChannel& channel) {
    return channel.gpus == graph.channels.front().gpus;
  });
}

}  // namespace

std::string to_nccl_graph_xml(const NcclGraphs& graphs, const Topology& topology) {
  std::string text = fmt::format("<graphs version=\"1\">\n  <!-- forestcoll {}, {} -->\n", kVersion,
                                 name_in_comment(topology));
  for (const NcclGraph& graph : graphs.graphs) {
    text += fmt::format(
        "  <graph id=\"{}\" pattern=\"{}\" crossnic=\"0\" nchannels=\"{}\" speedintra=\"{:.6g}\" "
        "speedinter=\"{:.6g}\" latencyinter=\"0\" typeintra=\"{}\" typeinter=\"{}\" "
        "samechannels=\"{}\">\n",
        graph.id, graph.pattern, graph.channels.size(), graph.speed_intra.to_double(),
        graph.speed_inter.to_double(), graphs.type_intra, graphs.type_inter,
        are_same(graph) ? 1 : 0);
    for (const NcclChannel& channel : graph.channels) text += text_of(channel);
    text += "  </graph>\n";
  }
  return text + "</graphs>\n";
}

}  // namespace forestcoll
