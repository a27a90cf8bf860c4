#include <array>
#include <pugixml.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "topology/convert/writers.hpp"

namespace forestcoll::topology {
namespace {

struct Key {
  const char* id;
  const char* of;
};
// Bandwidths, latencies and weights are text, because a double would round them.
constexpr std::array<Key, 13> kKeys = {{{"name", "graph"},
                                        {"description", "graph"},
                                        {"type", "node"},
                                        {"rank", "node"},
                                        {"box", "node"},
                                        {"weight", "node"},
                                        {"multicast", "node"},
                                        {"reduce", "node"},
                                        {"echo", "node"},
                                        {"bandwidth", "edge"},
                                        {"cables", "edge"},
                                        {"latency", "edge"},
                                        {"kind", "edge"}}};

const char* type_of(std::string_view key) {
  if (key == "rank") return "int";
  if (key == "cables") return "long";
  return key == "multicast" || key == "reduce" || key == "echo" ? "boolean" : "string";
}

void add(pugi::xml_node element, const std::string& key, const std::string& value) {
  pugi::xml_node data = element.append_child("data");
  data.append_attribute("key") = key.c_str();
  data.text() = value.c_str();
}

void add(pugi::xml_node element, const std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes) add(element, attribute.key, attribute.value);
}

}  // namespace

std::string write_graphml(const PlainGraph& graph) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("graphml");
  root.append_attribute("xmlns") = "http://graphml.graphdrawing.org/xmlns";
  for (const Key& key : kKeys) {
    pugi::xml_node element = root.append_child("key");
    element.append_attribute("id") = key.id;
    element.append_attribute("for") = key.of;
    element.append_attribute("attr.name") = key.id;
    element.append_attribute("attr.type") = type_of(key.id);
  }
  pugi::xml_node body = root.append_child("graph");
  body.append_attribute("edgedefault") = "directed";
  if (!graph.topology.name.empty()) add(body, "name", graph.topology.name);
  if (!graph.topology.description.empty()) add(body, "description", graph.topology.description);
  const auto of_nodes = node_attributes(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    pugi::xml_node element = body.append_child("node");
    element.append_attribute("id") = graph.id(graph.nodes[i]).c_str();
    add(element, of_nodes[i]);
  }
  for (const DirectedLink& link : graph.arcs) {
    pugi::xml_node element = body.append_child("edge");
    element.append_attribute("source") = graph.id(link.arc.tail).c_str();
    element.append_attribute("target") = graph.id(link.arc.head).c_str();
    add(element, edge_attributes(graph.topology.links[link.link]));
  }
  std::ostringstream text;
  document.save(text, " ", pugi::format_indent, pugi::encoding_utf8);
  return text.str();
}

}  // namespace forestcoll::topology
