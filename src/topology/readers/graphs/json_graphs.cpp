// Graphs in JSON: networkx's node-link data, JSON Graph Format, and SCCL's matrices.
#include <fmt/format.h>

#include <algorithm>

#include "base/words.hpp"
#include "topology/format/json_value.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {
namespace {

using topology::JsonValue;
using topology::Place;
using Kind = JsonValue::Kind;

constexpr const char* kNumberOfLinks = "Give a number from 0 on, of few digits.";

void refuse(const Context& context, Code code, const Place& place, std::string_view expected,
            const JsonValue* found, std::string remedy) {
  context.findings.error(code, place.pointer(),
                         fmt::format("expected {}, found {}", expected,
                                     found == nullptr ? "nothing" : topology::describe(*found)),
                         std::move(remedy));
}

// Texts, numbers and truths of an object; what holds more is no attribute of ours. False where it
// says the contrary of what is known.
bool add_attributes(const Context& context, const JsonValue& object, const Place& place,
                    Attributes& attributes) {
  bool ok = true;
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    const JsonValue& value = object.items[i];
    if (value.kind == Kind::null || value.kind == Kind::array || value.kind == Kind::object)
      continue;
    const auto [known, is_new] = attributes.emplace(object.keys[i], value.text);
    if (is_new || known->second == value.text || !is_read(object.keys[i])) continue;
    context.findings.error(Code::I03, place.pointer(),
                           fmt::format("the {} is {} here and {} in the metadata", object.keys[i],
                                       quote(known->second), quote(value.text)),
                           "Leave one of them out.");
    ok = false;
  }
  return ok;
}

// Of a node or an edge, and of its metadata, where JSON Graph Format keeps them.
std::optional<Attributes> attributes_of(const Context& context, const JsonValue& object,
                                        const Place& place) {
  Attributes attributes;
  bool ok = add_attributes(context, object, place, attributes);
  if (const JsonValue* metadata = object.find("metadata")) {
    ok = add_attributes(context, *metadata, place, attributes) && ok;
  }
  return ok ? std::optional(std::move(attributes)) : std::nullopt;
}

// An id: a text or a number.
std::optional<std::string> id_of(const JsonValue* value) {
  if (value == nullptr) return std::nullopt;
  if (value->kind != Kind::string && value->kind != Kind::number) return std::nullopt;
  return value->text;
}

bool is_true(const JsonValue* value, bool otherwise) {
  return value == nullptr || value->kind != Kind::boolean ? otherwise : value->text == "true";
}

std::string text_of(const JsonValue* value) {
  return value != nullptr && value->kind == Kind::string ? value->text : "";
}

// The edges of both formats: {"source", "target", …}.
bool add_edge(const Context& context, GraphBuilder& builder, const JsonValue& edge,
              const Place& place, bool directed) {
  const auto source = id_of(edge.find("source")), target = id_of(edge.find("target"));
  if (edge.kind != Kind::object || !source || !target) {
    refuse(context, Code::I02, place, "an edge with source and target", &edge,
           "Give every edge the ids of its two nodes.");
    return false;
  }
  const auto attributes = attributes_of(context, edge, place);
  if (!attributes) return false;
  const auto where = [&] { return place.pointer(); };
  builder.require_node(*source, where);
  builder.require_node(*target, where);
  builder.add_link(*source, *target, *attributes, is_true(edge.find("directed"), directed), where);
  return true;
}

bool add_edges(const Context& context, GraphBuilder& builder, const JsonValue& edges,
               const Place& in, bool directed) {
  bool ok = true;
  for (std::size_t i = 0; i < edges.items.size(); ++i) {
    ok = add_edge(context, builder, edges.items[i], Place(in, i), directed) && ok;
  }
  return ok;
}

// Version 2 of JSON Graph Format has an object of nodes by id, others an array of nodes with ids.
bool add_nodes(const Context& context, GraphBuilder& builder, const JsonValue& nodes,
               const Place& in, std::string_view expected, const char* remedy) {
  const bool by_id = nodes.kind == Kind::object;
  bool ok = true;
  for (std::size_t i = 0; i < nodes.items.size(); ++i) {
    const Place place = by_id ? Place(in, nodes.keys[i]) : Place(in, i);
    const JsonValue& node = nodes.items[i];
    const auto id = by_id ? std::optional(nodes.keys[i]) : id_of(node.find("id"));
    if (node.kind != Kind::object || !id) {
      refuse(context, Code::I02, place, expected, &node, remedy);
      ok = false;
      continue;
    }
    const auto attributes = attributes_of(context, node, place);
    ok = ok && attributes.has_value();
    if (attributes) builder.add_node(*id, *attributes, [&] { return place.pointer(); });
  }
  return ok;
}

}  // namespace

std::optional<Graph> read_node_link(const Context& context) {
  const auto root = topology::parse_json(context.text, context.findings);
  if (!root) return std::nullopt;
  const Place top;
  const JsonValue* nodes = root->find("nodes");
  // networkx 3.4 renamed "links" to "edges".
  const JsonValue* links = root->find("links");
  const JsonValue* edges = root->find("edges");
  if (links != nullptr && edges != nullptr) {
    refuse(context, Code::I02, top, "links or edges", &*root,
           "The object has both: networkx wrote links before version 3.4, and edges since. Leave "
           "one out.");
    return std::nullopt;
  }
  const std::string_view key = links != nullptr ? "links" : "edges";
  if (links != nullptr) edges = links;
  if (nodes == nullptr || nodes->kind != Kind::array || edges == nullptr ||
      edges->kind != Kind::array) {
    refuse(context, Code::I01, top, "an object with the arrays nodes and links (or edges)", &*root,
           "Write it with networkx.node_link_data.");
    return std::nullopt;
  }
  GraphBuilder builder(context);
  bool ok = add_nodes(context, builder, *nodes, Place(top, "nodes"), "a node with an id",
                      "Give every node an id: a text or a number.");
  ok = add_edges(context, builder, *edges, Place(top, key),
                 is_true(root->find("directed"), false)) &&
       ok;
  if (!ok) return std::nullopt;
  const JsonValue* graph = root->find("graph");
  const bool described = graph != nullptr && graph->kind == Kind::object;
  return builder.finish(described ? text_of(graph->find("name")) : "",
                        described ? text_of(graph->find("description")) : "");
}

std::optional<Graph> read_json_graph(const Context& context) {
  const auto root = topology::parse_json(context.text, context.findings);
  if (!root) return std::nullopt;
  const Place top;
  const JsonValue* graph = root->find("graph");
  if (graph == nullptr || graph->kind != Kind::object) {
    refuse(context, Code::I01, top, "an object with one graph", &*root,
           "Of several graphs, give one in a file of its own.");
    return std::nullopt;
  }
  const Place in_graph(top, "graph");
  const JsonValue* nodes = graph->find("nodes");
  const JsonValue* edges = graph->find("edges");
  if (nodes == nullptr || (nodes->kind != Kind::object && nodes->kind != Kind::array) ||
      edges == nullptr || edges->kind != Kind::array) {
    refuse(context, Code::I02, in_graph, "nodes and edges", graph,
           "Give the graph both, as JSON Graph Format has them.");
    return std::nullopt;
  }
  GraphBuilder builder(context);
  bool ok = add_nodes(context, builder, *nodes, Place(in_graph, "nodes"), "a node",
                      "Give every node an id and an object.");
  ok = add_edges(context, builder, *edges, Place(in_graph, "edges"),
                 is_true(graph->find("directed"), true)) &&
       ok;
  if (!ok) return std::nullopt;
  const JsonValue* metadata = graph->find("metadata");
  return builder.finish(text_of(graph->find("label")),
                        metadata == nullptr ? "" : text_of(metadata->find("description")));
}

// A number of a node of a matrix of so many rows.
std::optional<std::size_t> node_of_matrix(const JsonValue& value, std::size_t size) {
  const auto number = value.kind == Kind::number ? natural(value.text) : std::nullopt;
  if (!number || *number >= static_cast<std::int64_t>(size)) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

// "switches" of [sources, destinations, bandwidth, name]: what all links from these to those carry
// together at most.
std::optional<std::vector<LimitText>> limits_of_sccl(const Context& context, const JsonValue& root,
                                                     const JsonValue& links) {
  std::vector<LimitText> limits;
  const JsonValue* switches = root.find("switches");
  if (switches == nullptr) return limits;
  const Place top, place(top, "switches");
  const auto unit = context.overridden("link").value_or(Ratio(1));
  for (std::size_t i = 0; i < switches->items.size(); ++i) {
    const JsonValue& entry = switches->items[i];
    const bool is_entry = entry.items.size() == 4 && entry.items[2].kind == Kind::number;
    const auto value = is_entry ? parse_ratio(entry.items[2].text) : std::nullopt;
    const auto bandwidth = value ? checked_mul(*value, unit) : std::nullopt;
    if (!bandwidth || *bandwidth <= Ratio(0)) {
      refuse(context, Code::I03, Place(place, i), "sources, destinations, a bandwidth and a name",
             &entry, kNumberOfLinks);
      return std::nullopt;
    }
    LimitText limit{text_of(&entry.items[3]), {}, {}, bandwidth->to_string()};
    for (const JsonValue& from : entry.items[0].items) {
      for (const JsonValue& to : entry.items[1].items) {
        const auto src = node_of_matrix(from, links.items.size());
        const auto dst = node_of_matrix(to, links.items.size());
        if (!src || !dst) {
          refuse(context, Code::I02, Place(place, i), "nodes of the matrix", &entry,
                 kNumberOfLinks);
          return std::nullopt;
        }
        const auto carried = parse_ratio(links.items[*dst].items[*src].text);
        if (*src == *dst || !carried || *carried == Ratio(0)) continue;
        limit.links.push_back(fmt::format("gpu{}->gpu{}", *src, *dst));
      }
    }
    if (!limit.links.empty()) limits.push_back(std::move(limit));
  }
  return limits;
}

// {"name", "links": a matrix, "switches"}. A row holds what a node receives: links[dst][src].
std::optional<Graph> read_sccl(const Context& context) {
  const auto root = topology::parse_json(context.text, context.findings);
  if (!root) return std::nullopt;
  const Place top, in_links(top, "links");
  const JsonValue* links = root->find("links");
  if (links == nullptr || links->kind != Kind::array) {
    refuse(context, Code::I01, top, "an object with the matrix links", &*root,
           "Give a topology as SCCL writes it.");
    return std::nullopt;
  }
  const std::size_t size = links->items.size();
  if (size > kMaxGpusOfMachine) {
    refuse(context, Code::I09, in_links, fmt::format("at most {} rows", kMaxGpusOfMachine), links,
           "Give a smaller matrix.");
    return std::nullopt;
  }
  GraphBuilder builder(context);
  const auto where = [&] { return in_links.pointer(); };
  for (std::size_t node = 0; node < size; ++node) {
    builder.add_node(fmt::format("gpu{}", node), {{"type", "compute"}}, where);
  }
  bool ok = true;
  for (std::size_t dst = 0; dst < size; ++dst) {
    const JsonValue& row = links->items[dst];
    const Place in_row(in_links, dst);
    if (row.kind != Kind::array || row.items.size() != size) {
      refuse(context, Code::I02, in_row, fmt::format("a row of {} numbers", size), &row,
             "Give the whole matrix: a row and a column for each node.");
      ok = false;
      continue;
    }
    for (std::size_t src = 0; src < size; ++src) {
      const Place place(in_row, src);
      const JsonValue& cell = row.items[src];
      const auto value = cell.kind == Kind::number ? parse_ratio(cell.text) : std::nullopt;
      if (!value || *value < Ratio(0)) {
        refuse(context, Code::I03, place, "a number of links", &cell, kNumberOfLinks);
        ok = false;
        continue;
      }
      if (*value == Ratio(0) || src == dst) continue;
      const auto unit = context.overridden("link").value_or(Ratio(1));
      const auto bandwidth = checked_mul(*value, unit);
      if (!bandwidth) {
        refuse(context, Code::I03, place, "a number of links", &cell, kNumberOfLinks);
        ok = false;
        continue;
      }
      // `add_link` would take the bandwidth of one link for all of them.
      builder.add_sized_link(fmt::format("gpu{}", src), fmt::format("gpu{}", dst), *bandwidth);
    }
  }
  if (!ok) return std::nullopt;
  const auto limits = limits_of_sccl(context, *root, *links);
  if (!limits) return std::nullopt;
  if (!context.overridden("link")) {
    context.report.guesses.emplace_back(
        "the unit of SCCL's links: 1 GB/s (`bandwidths=FILE.csv` with a line \"link,25\" gives "
        "another)");
  }
  auto graph = builder.finish(text_of(root->find("name")), "");
  if (graph) graph->limits = *limits;
  return graph;
}

}  // namespace forestcoll::importing
