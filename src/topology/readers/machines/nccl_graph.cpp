// NCCL's graph XML: <graphs> hold a <graph> for each algorithm, its <channel>s list the devices.
#include <fmt/format.h>

#include <string_view>

#include "base/words.hpp"
#include "topology/format/text_encoding.hpp"
#include "topology/readers/context.hpp"
#include "topology/readers/xml.hpp"

namespace forestcoll {
namespace {

using importing::Context;

constexpr std::size_t kMaxChannels = 1024;

// Newer releases write devices as 0x7, older ones as 7.
std::optional<std::int64_t> read_device(const Context& context, const pugi::xml_node& element) {
  const std::string_view text = element.attribute("dev").value();
  if (!text.starts_with("0x")) return importing::integer(context, element, "dev");
  if (const auto device = number_in<std::int64_t>(text.substr(2), 16)) return device;
  return importing::integer(context, element, "dev");  // says what is wrong
}

std::optional<NcclChannel> read_channel(const Context& context, const pugi::xml_node& element) {
  NcclChannel channel;
  for (const pugi::xml_node& device : element.children()) {
    const std::string_view name = device.name();
    if (name != "gpu" && name != "net") continue;
    const auto dev = read_device(context, device);
    if (!dev) return std::nullopt;
    if (name == "gpu") {
      channel.gpus.push_back(*dev);
    } else {
      (channel.gpus.empty() ? channel.net_in : channel.net_out) = *dev;
    }
  }
  if (!channel.gpus.empty()) return channel;
  context.findings.error(Code::I02, context.place(importing::offset_of(element)),
                         "a channel without GPUs", "Dump the graph anew.");
  return std::nullopt;
}

std::optional<NcclGraph> read_graph(const Context& context, const pugi::xml_node& element) {
  const auto id = importing::integer(context, element, "id");
  const auto pattern = importing::integer(context, element, "pattern");
  const auto intra = importing::number(context, element, "speedintra");
  const auto inter = importing::number(context, element, "speedinter");
  if (!id || !pattern || !intra || !inter) return std::nullopt;
  NcclGraph graph{.id = *id, .pattern = *pattern, .speed_intra = *intra, .speed_inter = *inter};
  graph.pxn = element.attribute("typeinter").value() == std::string_view("PXN");
  for (const pugi::xml_node& child : element.children("channel")) {
    if (graph.channels.size() == kMaxChannels) {
      context.findings.error(Code::I09, context.place(importing::offset_of(child)),
                             fmt::format("more than {} channels", kMaxChannels),
                             "Dump the graph anew.");
      return std::nullopt;
    }
    auto channel = read_channel(context, child);
    if (!channel) return std::nullopt;
    graph.channels.push_back(*std::move(channel));
  }
  return graph;
}

}  // namespace

Expected<std::vector<NcclGraph>> read_nccl_graph(std::string_view text, std::string_view file) {
  importing::Findings findings(file);
  const ImportOptions options;
  ImportReport report;
  const Context context{.text = text,
                        .source = Source::nccl_graph,
                        .options = options,
                        .findings = findings,
                        .report = report};
  pugi::xml_document document;
  if (!topology::check_encoding(text, findings)) return findings.all();
  const pugi::xml_node root = importing::load_root(context, document, "graphs", "NCCL's graphs",
                                                   "Dump them with NCCL_GRAPH_DUMP_FILE.");
  if (!root) return findings.all();
  std::vector<NcclGraph> graphs;
  for (const pugi::xml_node& element : root.children("graph")) {
    auto graph = read_graph(context, element);
    if (!graph) return findings.all();
    graph->file = file;
    graphs.push_back(*std::move(graph));
  }
  return graphs;
}

}  // namespace forestcoll
