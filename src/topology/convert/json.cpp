// The two JSON formats: node-link as networkx 3.4 writes it, and JSON Graph Format 2.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "topology/convert/writers.hpp"

namespace forestcoll::topology {
namespace {

using Json = nlohmann::ordered_json;

// A number only where reading it as a double and writing it again gives the same text.
Json value_of(const Attribute& attribute) {
  if (!attribute.number) return attribute.value;
  Json number = Json::parse(attribute.value, nullptr, false);
  if (number.is_discarded() || number.dump() != attribute.value) return attribute.value;
  return number;
}

void add(Json& object, const std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes) object[attribute.key] = value_of(attribute);
}

Json header(const Topology& topology) {
  Json values = Json::object();
  if (!topology.description.empty()) values["description"] = topology.description;
  values["bandwidth_unit"] = "GB/s";
  values["latency_unit"] = "us";
  return values;
}

std::string text_of(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string write_networkx(const PlainGraph& graph) {
  Json attributes = Json::object();
  if (!graph.topology.name.empty()) attributes["name"] = graph.topology.name;
  attributes.update(header(graph.topology));
  Json nodes = Json::array();
  const auto of_nodes = node_attributes(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Json node = {{"id", graph.id(graph.nodes[i])}};
    add(node, of_nodes[i]);
    nodes.push_back(std::move(node));
  }
  Json edges = Json::array();
  for (std::size_t i = 0; i < graph.arcs.size(); ++i) {
    const DirectedLink& link = graph.arcs[i];
    // Parallel links need keys that differ.
    Json edge = {
        {"source", graph.id(link.arc.tail)}, {"target", graph.id(link.arc.head)}, {"key", i}};
    add(edge, edge_attributes(graph.topology.links[link.link]));
    edges.push_back(std::move(edge));
  }
  return text_of({{"directed", true},
                  {"multigraph", true},
                  {"graph", std::move(attributes)},
                  {"nodes", std::move(nodes)},
                  {"edges", std::move(edges)}});
}

std::string write_json_graph(const PlainGraph& graph) {
  Json nodes = Json::object();
  const auto of_nodes = node_attributes(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string& id = graph.id(graph.nodes[i]);
    Json metadata = Json::object();
    add(metadata, of_nodes[i]);
    nodes[id] = {{"label", id}, {"metadata", std::move(metadata)}};
  }
  Json edges = Json::array();
  for (const DirectedLink& link : graph.arcs) {
    Json metadata = Json::object();
    add(metadata, edge_attributes(graph.topology.links[link.link]));
    edges.push_back({{"source", graph.id(link.arc.tail)},
                     {"target", graph.id(link.arc.head)},
                     {"directed", true},
                     {"metadata", std::move(metadata)}});
  }
  Json whole = {{"directed", true}};
  if (!graph.topology.name.empty()) whole["label"] = graph.topology.name;
  whole["metadata"] = header(graph.topology);
  whole["nodes"] = std::move(nodes);
  whole["edges"] = std::move(edges);
  return text_of({{"graph", std::move(whole)}});
}

}  // namespace forestcoll::topology
