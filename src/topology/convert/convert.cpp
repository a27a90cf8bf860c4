#include "forestcoll/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "forestcoll/topology_text.hpp"
#include "topology/convert/writers.hpp"
#include "topology/format/json_value.hpp"
#include "topology/format/quote_dot.hpp"
#include "topology/format/with_metadata.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll {
namespace topology {

std::vector<std::vector<Attribute>> node_attributes(const PlainGraph& graph) {
  const Topology& topology = graph.topology;
  IdVector<NodeId, std::size_t> rank_of(topology.nodes.size());
  for (std::size_t r = 0; r < topology.ranks.size(); ++r) rank_of[topology.ranks[r]] = r;
  std::vector<std::vector<Attribute>> all;
  for (const NodeId id : graph.nodes) {
    const TopologyNode& node = topology.nodes[id];
    const bool compute = node.type == NodeType::compute;
    std::vector<Attribute> attributes = {{"type", std::string(to_string(node.type))}};
    if (compute) attributes.push_back({"rank", std::to_string(rank_of[id]), true});
    if (!node.box.empty()) attributes.push_back({"box", node.box});
    if (node.weight != Ratio(1)) attributes.push_back({"weight", exact_text(node.weight), true});
    if (node.multicast) attributes.push_back({"multicast", "true", true});
    if (node.reduce) attributes.push_back({"reduce", "true", true});
    if (!node.echo) attributes.push_back({"echo", "false", true});
    all.push_back(std::move(attributes));
  }
  return all;
}

std::vector<Attribute> edge_attributes(const TopologyLink& link) {
  std::vector<Attribute> attributes = {{"bandwidth", exact_text(link.bandwidth), true}};
  if (link.count != 1) attributes.push_back({"cables", std::to_string(link.count), true});
  if (link.latency) attributes.push_back({"latency", exact_text(*link.latency), true});
  if (!link.kind.empty()) attributes.push_back({"kind", link.kind});
  return attributes;
}

}  // namespace topology

namespace {

using topology::PlainGraph;

PlainGraph plain_graph(const Topology& topology) {
  PlainGraph graph{topology, {}, topology::enabled_arcs(topology)};
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (topology.nodes[NodeId(i)].enabled) graph.nodes.push_back(NodeId(i));
  }
  return graph;
}

void say_if_any(std::vector<std::string>& lost, std::ptrdiff_t count, std::string_view one,
                std::string_view several) {
  if (count > 0) lost.push_back(fmt::format("{} {}", count, count == 1 ? one : several));
}

// What every format but our own leaves out.
std::vector<std::string> disabled_parts(const Topology& topology) {
  std::vector<std::string> lost;
  say_if_any(lost, std::ranges::count(topology.nodes, false, &TopologyNode::enabled),
             "disabled node", "disabled nodes");
  say_if_any(lost, std::ranges::count(topology.links, false, &TopologyLink::enabled),
             "disabled link", "disabled links");
  return lost;
}

// What a list of links has no place for.
void add_lost_in_csv(const PlainGraph& graph, std::vector<std::string>& lost) {
  IdVector<NodeId, bool> linked(graph.topology.nodes.size(), false);
  for (const auto& arc : graph.arcs) linked[arc.arc.tail] = linked[arc.arc.head] = true;
  std::ptrdiff_t alone = 0;
  for (const NodeId id : graph.nodes) {
    alone += linked[id] ? 0 : 1;
  }
  say_if_any(lost, alone, "node without links", "nodes without links");
}

// What the fabric and its parts are called, beside the ids.
std::set<std::string> names_in(const PlainGraph& graph) {
  std::set<std::string> names = {graph.topology.name, graph.topology.description};
  for (const NodeId id : graph.nodes) names.insert(graph.topology.nodes[id].box);
  for (const auto& arc : graph.arcs) names.insert(graph.topology.links[arc.link].kind);
  return names;
}

std::set<std::string> with_ids(std::set<std::string> names, const PlainGraph& graph) {
  for (const NodeId id : graph.nodes) names.insert(graph.topology.nodes[id].id);
  return names;
}

// Names that readers of the format get otherwise than they are.
template <class Survives>
void add_changed_names(std::set<std::string> names, Survives survives,
                       std::vector<std::string>& lost) {
  std::erase_if(names, survives);
  if (names.empty()) return;
  const std::string first = topology::quote(*names.begin());
  lost.push_back(names.size() == 1
                     ? fmt::format("the exact name {}", first)
                     : fmt::format("{} exact names, such as {}", names.size(), first));
}

// JSON pointers of all keys x-….
std::vector<std::string> all_notes(const Metadata& metadata) {
  std::vector<std::string> pointers;
  for (const auto& [key, value] : metadata.notes) {
    pointers.push_back("/" + topology::pointer_token(key));
  }
  pointers.insert(pointers.end(), metadata.inner_notes.begin(), metadata.inner_notes.end());
  return pointers;
}

void add_lost_notes(const std::vector<std::string>& pointers, std::vector<std::string>& lost) {
  if (pointers.empty()) return;
  lost.push_back(pointers.size() == 1
                     ? fmt::format("the note {}", pointers.front())
                     : fmt::format("{} notes, such as {}", pointers.size(), pointers.front()));
}

// Readers of XML take blanks at the ends for layout.
bool survives_in_xml(std::string_view name) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  if (name.find('\r') != std::string_view::npos) return false;
  return name.empty() || (kBlanks.find(name.front()) == std::string_view::npos &&
                          kBlanks.find(name.back()) == std::string_view::npos);
}

}  // namespace

const std::vector<GraphFormatInfo>& graph_formats() {
  static const std::vector<GraphFormatInfo> formats = {
      {GraphFormat::topology, "topology", ".json"},
      {GraphFormat::networkx, "networkx", ""},
      {GraphFormat::json_graph, "json-graph", ""},
      {GraphFormat::graphml, "graphml", ".graphml"},
      {GraphFormat::dot, "dot", ".dot"},
      {GraphFormat::csv, "csv", ".csv"}};
  return formats;
}

std::optional<GraphFormat> find_graph_format(std::string_view name) {
  for (const GraphFormatInfo& info : graph_formats()) {
    if (info.name == name) return info.format;
  }
  return std::nullopt;
}

std::optional<GraphFormat> graph_format_of_file(std::string_view path) {
  for (const GraphFormatInfo& info : graph_formats()) {
    if (!info.extension.empty() && path.ends_with(info.extension)) return info.format;
  }
  return path.ends_with(".gv") ? std::optional(GraphFormat::dot) : std::nullopt;
}

Converted convert(const Topology& topology, GraphFormat format, const Metadata& metadata) {
  if (format == GraphFormat::topology) {
    Converted result{topology::to_topology_json(flat_document(topology), metadata), {}};
    add_lost_notes(metadata.inner_notes, result.lost);
    return result;
  }
  const PlainGraph graph = plain_graph(topology);
  Converted result{"", disabled_parts(topology)};
  if (!metadata.metadata.empty()) result.lost.emplace_back("the metadata");
  add_lost_notes(all_notes(metadata), result.lost);
  switch (format) {
    case GraphFormat::topology:
      break;
    case GraphFormat::networkx:
      result.text = topology::write_networkx(graph);
      break;
    case GraphFormat::json_graph:
      result.text = topology::write_json_graph(graph);
      break;
    case GraphFormat::graphml:
      result.text = topology::write_graphml(graph);
      add_changed_names(names_in(graph), survives_in_xml, result.lost);
      break;
    case GraphFormat::dot:
      result.text = topology::write_dot(graph);
      add_changed_names(with_ids(names_in(graph), graph), topology::is_sayable_in_dot, result.lost);
      break;
    case GraphFormat::csv:
      result.text = topology::write_csv(graph);
      add_lost_in_csv(graph, result.lost);
      break;
  }
  return result;
}

}  // namespace forestcoll
