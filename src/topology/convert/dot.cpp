#include <fmt/format.h>

#include <iterator>
#include <string>
#include <vector>

#include "base/words.hpp"
#include "topology/convert/writers.hpp"
#include "topology/format/quote_dot.hpp"

namespace forestcoll::topology {
namespace {

std::string list(const std::vector<Attribute>& attributes) {
  return listed(attributes, [](const Attribute& attribute) {
    return fmt::format("{}={}", attribute.key, quote_dot(attribute.value));
  });
}

}  // namespace

std::string write_dot(const PlainGraph& graph) {
  std::string out = fmt::format("digraph {} {{\n", quote_dot(graph.topology.name));
  // The graph's own name is not an attribute, which is what readers give access to.
  if (!graph.topology.name.empty()) {
    out += fmt::format("  name={};\n", quote_dot(graph.topology.name));
  }
  if (!graph.topology.description.empty()) {
    out += fmt::format("  comment={};\n", quote_dot(graph.topology.description));
  }
  const auto of_nodes = node_attributes(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "  {} [{}];\n", quote_dot(graph.id(graph.nodes[i])),
                   list(of_nodes[i]));
  }
  for (const DirectedLink& link : graph.arcs) {
    fmt::format_to(std::back_inserter(out), "  {} -> {} [{}];\n",
                   quote_dot(graph.id(link.arc.tail)), quote_dot(graph.id(link.arc.head)),
                   list(edge_attributes(graph.topology.links[link.link])));
  }
  return out + "}\n";
}

}  // namespace forestcoll::topology
