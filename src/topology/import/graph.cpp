#include "topology/import/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "topology/import/words.hpp"
#include "topology/units.hpp"

namespace forestcoll::importing {
namespace {

using topology::Quantity;

constexpr const char* kSmaller = "Import a smaller part of the fabric.";

const std::string* find(const Attributes& attributes, std::string_view key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? nullptr : &found->second;
}

// Three names for one thing, the clearest first.
const std::string* find_bandwidth(const Attributes& attributes) {
  for (const std::string_view key : {"bandwidth", "capacity", "weight"}) {
    if (const std::string* text = find(attributes, key)) return text;
  }
  return nullptr;
}

// What nodes must share to stand in one entry.
auto attributes_of(const GraphNode& node) {
  return std::tuple(node.type, node.box, node.weight, node.multicast, node.reduce, node.enabled);
}

void add_nodes(const Graph& graph, TopologyDocument& document) {
  for (std::size_t first = 0; first < graph.nodes.size();) {
    std::vector<std::string> ids;
    std::size_t last = first;
    while (last < graph.nodes.size() &&
           attributes_of(graph.nodes[last]) == attributes_of(graph.nodes[first])) {
      ids.push_back(graph.nodes[last++].id);
    }
    const GraphNode& like = graph.nodes[first];
    for (const std::string& list : compress_ids(ids)) {
      document.top.nodes.push_back({.ids = list,
                                    .type = like.type,
                                    .box = like.box,
                                    .multicast = like.multicast,
                                    .reduce = like.reduce,
                                    .enabled = like.enabled,
                                    .weight = like.weight});
    }
    first = last;
  }
}

void add_links(const Graph& graph, bool enabled, TopologyDocument& document) {
  std::vector<FlatLink> links;
  for (const GraphLink& link : graph.links) {
    if (link.enabled == enabled) links.push_back(link.link);
  }
  for (LinkText& entry : compact(join_directions(links))) {
    entry.enabled = enabled;
    document.top.links.push_back(std::move(entry));
  }
}

// Ranks count where every compute node has its own.
std::vector<std::string> rank_order(const Graph& graph) {
  std::vector<std::pair<std::int64_t, std::string>> ranks;
  std::set<std::int64_t> seen;
  for (const GraphNode& node : graph.nodes) {
    if (node.type != NodeType::compute || !node.enabled) continue;
    if (!node.rank || !seen.insert(*node.rank).second) return {};
    ranks.emplace_back(*node.rank, node.id);
  }
  if (std::ranges::is_sorted(ranks)) return {};
  std::ranges::sort(ranks);
  std::vector<std::string> ids;
  for (auto& [rank, id] : ranks) ids.push_back(std::move(id));
  return compress_ids(ids);
}

}  // namespace

void GraphBuilder::fail(std::string_view code, const Where& where, std::string message,
                        std::string remedy) {
  failed_ = true;
  if (context_.findings.shows(code)) {
    context_.findings.error(code, where(), std::move(message), std::move(remedy));
  } else {
    context_.findings.error(code, "", "", "");
  }
}

std::optional<std::size_t> GraphBuilder::node(const std::string& id, const Where& where) {
  const auto found = index_.find(id);
  if (found != index_.end()) return found->second;
  if (id.empty() || id.find_first_of("[]") != std::string::npos) {
    fail("I03", where, fmt::format("a node is called {}", quote(id)),
         "Names of nodes may not be empty and have no brackets, which stand for ranges.");
    return std::nullopt;
  }
  if (graph_.nodes.size() == kMaxParts) {
    fail("I09", where, fmt::format("more than {} nodes", kMaxParts), kSmaller);
    return std::nullopt;
  }
  index_.emplace(id, graph_.nodes.size());
  graph_.nodes.push_back({.id = id});
  typed_.push_back(false);
  return graph_.nodes.size() - 1;
}

bool GraphBuilder::truth(const Attributes& attributes, std::string_view key, bool otherwise,
                         const Where& where) {
  const std::string* text = find(attributes, key);
  if (text == nullptr) return otherwise;
  if (*text == "true" || *text == "True" || *text == "1") return true;
  if (*text == "false" || *text == "False" || *text == "0") return false;
  fail("I03", where, fmt::format("{}: expected true or false, found {}", key, quote(*text)),
       "Write true or false.");
  return otherwise;
}

void GraphBuilder::add_node(const std::string& id, const Attributes& attributes,
                            const Where& where) {
  const auto index = node(id, where);
  if (!index) return;
  GraphNode& entry = graph_.nodes[*index];
  if (const std::string* type = find(attributes, "type")) {
    const bool compute = *type == "compute" || *type == "gpu";
    if (!compute && *type != "switch") {
      fail("I03", where,
           fmt::format("the type of {}: expected compute or switch, found {}", quote(id),
                       quote(*type)),
           "Or name the GPUs: --compute PATTERN.");
    }
    entry.type = compute ? NodeType::compute : NodeType::switch_node;
    typed_[*index] = true;
  }
  if (const std::string* box = find(attributes, "box")) entry.box = *box;
  if (const std::string* rank = find(attributes, "rank")) {
    entry.rank = natural(*rank);
    if (!entry.rank) {
      fail("I03", where, fmt::format("rank: found {}", quote(*rank)), "Number ranks from 0.");
    }
  }
  if (const std::string* weight = find(attributes, "weight")) {
    const auto value = parse_ratio(*weight);
    if (!value || *value < Ratio(0)) {
      fail("I03", where, fmt::format("weight: found {}", quote(*weight)),
           "A GPU's weight is its share of the data: a number such as 1, or 0.");
    }
    entry.weight = value.value_or(Ratio(1));
  }
  entry.multicast = truth(attributes, "multicast", entry.multicast, where);
  entry.reduce = truth(attributes, "reduce", entry.reduce, where);
  entry.enabled = truth(attributes, "enabled", entry.enabled, where);
}

void GraphBuilder::add_link(const std::string& src, const std::string& dst,
                            const Attributes& attributes, bool directed, const Where& where) {
  const auto from = node(src, where), to = node(dst, where);
  if (!from || !to) return;
  if (graph_.links.size() == 16 * kMaxParts) {
    return fail("I09", where, fmt::format("more than {} links", 16 * kMaxParts), kSmaller);
  }
  auto bandwidth = context_.overridden("link");
  const std::string* text = find_bandwidth(attributes);
  if (!bandwidth && text == nullptr) {
    return fail("I05", where,
                fmt::format("the edge from {} to {} has no bandwidth, capacity or weight",
                            quote(src), quote(dst)),
                "Add one to each edge, or give all of them one: --bandwidths FILE.csv with a line "
                "\"link,25\" (GB/s).");
  }
  if (!bandwidth) bandwidth = topology::parse_quantity(Quantity::bandwidth, *text, Ratio(1));
  if (!bandwidth || *bandwidth <= Ratio(0)) {
    return fail("I03", where,
                fmt::format("the bandwidth from {} to {}: expected a positive number of GB/s or a "
                            "text such as \"200 Gb/s\", found {}",
                            quote(src), quote(dst), quote(text == nullptr ? "" : *text)),
                "Leave out an edge that carries nothing.");
  }
  GraphLink entry{.link = {.src = src, .dst = dst, .bandwidth = *bandwidth}};
  if (const std::string* latency = find(attributes, "latency")) {
    const auto value = topology::parse_quantity(Quantity::latency, *latency, Ratio(1));
    if (!value || *value < Ratio(0)) {
      return fail("I03", where, fmt::format("latency: found {}", quote(*latency)),
                  "Give a number of us, or a text such as \"500 ns\".");
    }
    entry.link.latency = *value;
  }
  if (const std::string* count = find(attributes, "count")) {
    const auto value = natural(*count);
    if (!value || *value == 0) {
      return fail("I03", where, fmt::format("count: found {}", quote(*count)),
                  "Give a whole number of parallel links, at least 1.");
    }
    entry.link.count = *value;
  }
  if (const std::string* kind = find(attributes, "kind")) entry.link.kind = *kind;
  entry.link.full_duplex = !directed;
  if (const std::string* duplex = find(attributes, "duplex")) {
    if (*duplex != "full" && *duplex != "simplex") {
      return fail("I03", where, fmt::format("duplex: found {}", quote(*duplex)),
                  "Use full or simplex.");
    }
    entry.link.full_duplex = *duplex == "full";
  }
  entry.enabled = truth(attributes, "enabled", true, where);
  graph_.links.push_back(std::move(entry));
}

void GraphBuilder::add_sized_link(const std::string& src, const std::string& dst,
                                  const Ratio& bandwidth) {
  graph_.links.push_back(
      {.link = {.src = src, .dst = dst, .bandwidth = bandwidth, .full_duplex = false}});
}

bool GraphBuilder::decide_types() {
  const std::string& pattern = context_.options.compute;
  if (!pattern.empty()) {
    for (GraphNode& node : graph_.nodes) {
      node.type = matches(pattern, node.id) ? NodeType::compute : NodeType::switch_node;
    }
    return true;
  }
  const auto untyped = std::ranges::find(typed_, false);
  if (untyped == typed_.end()) return true;
  if (std::ranges::find(typed_, true) == typed_.end()) {
    context_.report.guesses.emplace_back(
        "every node is a GPU: no node has a type (--compute PATTERN names the GPUs)");
    return true;
  }
  const GraphNode& node = graph_.nodes[static_cast<std::size_t>(untyped - typed_.begin())];
  context_.findings.error(
      "I05", "", fmt::format("the node {} has no type, and others have one", quote(node.id)),
      "Give each node the type compute or switch, or name the GPUs: --compute "
      "PATTERN.");
  return false;
}

std::optional<Graph> GraphBuilder::finish(std::string name, std::string description) {
  if (failed_ || !decide_types()) return std::nullopt;
  graph_.name = std::move(name);
  graph_.description = std::move(description);
  return std::move(graph_);
}

TopologyDocument to_document(const Graph& graph) {
  TopologyDocument document{.name = graph.name, .description = graph.description};
  add_nodes(graph, document);
  add_links(graph, true, document);
  add_links(graph, false, document);
  document.rank_order = rank_order(graph);
  return document;
}

bool matches(std::string_view pattern, std::string_view id) {
  std::size_t at = 0, in = 0;
  std::size_t star = std::string_view::npos, retry = 0;
  while (in < id.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      retry = in;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == id[in])) {
      ++at;
      ++in;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace forestcoll::importing
