// GraphML: <key>s declare the attributes, <data> holds them; a graph's edges are directed or not by
// default and each by its own word.
#include <fmt/format.h>

#include <set>

#include "base/words.hpp"
#include "topology/readers/readers.hpp"
#include "topology/readers/xml.hpp"

namespace forestcoll::importing {
namespace {

struct Key {
  std::string name;
  std::string target;  // "node", "edge" or "all"
  std::optional<std::string> otherwise;
};

class GraphmlReader : XmlReader {
 public:
  GraphmlReader(const Context& context, const pugi::xml_node& root)
      : XmlReader(context), root_(root) {}

  std::optional<Graph> read() {
    read_keys();
    const pugi::xml_node graph = root_.child("graph");
    if (!graph || graph.next_sibling("graph")) {
      fail(Code::I02, graph ? graph : root_, "expected one <graph>",
           "Of several graphs, give one in a file of its own.");
      return std::nullopt;
    }
    const bool directed = std::string_view(graph.attribute("edgedefault").value()) != "undirected";
    GraphBuilder builder(context_);
    // Edges may stand before the nodes that they join.
    for (const pugi::xml_node& node : graph.children("node")) read_node(node, builder);
    for (const pugi::xml_node& edge : graph.children("edge")) read_edge(edge, directed, builder);
    for (const pugi::xml_node& edge : graph.children("hyperedge")) {
      fail(Code::I02, edge, "hyperedges are no links", "Write an edge for each link.");
    }
    const Attributes of_graph = attributes(graph, "graph");
    if (failed_) return std::nullopt;
    const auto text = [&](const char* key) {
      const auto found = of_graph.find(key);
      return found == of_graph.end() ? "" : found->second;
    };
    return builder.finish(text("name"), text("description"));
  }

 private:
  void read_keys() {
    for (const pugi::xml_node& key : root_.children("key")) {
      Key entry{.name = key.attribute("attr.name").value(),
                .target = key.attribute("for").as_string("all"),
                .otherwise = {}};
      if (key.child("default")) entry.otherwise = key.child("default").child_value();
      keys_[key.attribute("id").value()] = std::move(entry);
    }
  }

  Attributes attributes(const pugi::xml_node& node, std::string_view target) {
    Attributes found;
    std::set<std::string_view> given;
    for (const auto& [id, key] : keys_) {
      if (key.otherwise && (key.target == target || key.target == "all")) {
        found.insert_or_assign(key.name, *key.otherwise);
      }
    }
    for (const pugi::xml_node& data : node.children("data")) {
      const auto key = keys_.find(data.attribute("key").value());
      if (key == keys_.end()) continue;
      if (!given.insert(key->second.name).second) {
        fail(Code::I02, data, fmt::format("a second {} of one element", quote(key->second.name)),
             "Leave one of them out.");
        continue;
      }
      found.insert_or_assign(key->second.name, std::string(trimmed(data.child_value())));
    }
    return found;
  }

  void read_node(const pugi::xml_node& node, GraphBuilder& builder) {
    if (node.child("graph"))
      return fail(Code::I02, node, "a graph inside of a node", "Give one flat graph.");
    Attributes found = attributes(node, "node");
    std::string id = node.attribute("id").value();
    // Some writers number the nodes and keep their names beside.
    if (const auto name = found.find("id"); name != found.end()) id = name->second;
    if (!names_.emplace(node.attribute("id").value(), id).second) {
      return fail(Code::I02, node,
                  fmt::format("a second node has the id {}", quote(node.attribute("id").value())),
                  "Give every node an id of its own.");
    }
    builder.add_node(id, found, [&] { return context_.place(offset_of(node)); });
  }

  void read_edge(const pugi::xml_node& edge, bool directed, GraphBuilder& builder) {
    const std::string_view own = edge.attribute("directed").value();
    const auto source = names_.find(edge.attribute("source").value());
    const auto target = names_.find(edge.attribute("target").value());
    if (source == names_.end() || target == names_.end()) {
      const bool first = source == names_.end();
      return fail(Code::I02, edge,
                  fmt::format("an edge ends at {}, which is no node of the graph",
                              quote(edge.attribute(first ? "source" : "target").value())),
                  "Is the file cut off? Give the node a <node> element.");
    }
    builder.add_link(source->second, target->second, attributes(edge, "edge"),
                     own.empty() ? directed : own == "true",
                     [&] { return context_.place(offset_of(edge)); });
  }

  pugi::xml_node root_;
  std::map<std::string, Key> keys_;
  std::map<std::string, std::string> names_;  // of nodes, by their GraphML id
};

}  // namespace

std::optional<Graph> read_graphml(const Context& context) {
  pugi::xml_document document;
  const pugi::xml_node root =
      load_root(context, document, "graphml", "GraphML",
                "Name the format that the file has, or leave it to be recognised.");
  if (!root) return std::nullopt;
  return GraphmlReader(context, root).read();
}

}  // namespace forestcoll::importing
