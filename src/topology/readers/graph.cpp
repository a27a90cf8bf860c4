#include "topology/readers/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "base/words.hpp"
#include "topology/format/suggest_id.hpp"
#include "topology/format/text_encoding.hpp"
#include "topology/format/units.hpp"

namespace forestcoll::importing {
namespace {

using topology::Quantity;

constexpr std::array<std::string_view, 15> kAttributes = {
    "type",      "box",      "rank",  "weight", "multicast", "reduce", "echo",  "enabled",
    "bandwidth", "capacity", "count", "cables", "latency",   "kind",   "duplex"};
constexpr const char* kSmaller = "Import a smaller part of the fabric.";

const std::string* find(const Attributes& attributes, std::string_view key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? nullptr : &found->second;
}

// What nodes must share to stand in one entry.
auto attributes_of(const GraphNode& node) {
  return std::tuple(node.type, node.box, node.weight, node.multicast, node.reduce, node.echo,
                    node.enabled);
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
                                    .echo = like.echo,
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

bool is_read(std::string_view attribute) {
  return std::ranges::find(kAttributes, attribute) != kAttributes.end();
}

void GraphBuilder::fail(Code code, const Where& where, std::string message, std::string remedy) {
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
    fail(Code::I03, where, fmt::format("a node is called {}", quote(id)),
         "Names of nodes may not be empty and have no brackets, which stand for ranges.");
    return std::nullopt;
  }
  if (!is_plain("id", id, where)) return std::nullopt;
  if (graph_.nodes.size() == kMaxParts) {
    fail(Code::I09, where, fmt::format("more than {} nodes", kMaxParts), kSmaller);
    return std::nullopt;
  }
  index_.emplace(id, graph_.nodes.size());
  graph_.nodes.push_back({.id = id});
  typed_.push_back(false);
  declared_.push_back(false);
  return graph_.nodes.size() - 1;
}

bool GraphBuilder::truth(const Attributes& attributes, std::string_view key, bool otherwise,
                         const Where& where) {
  const std::string* text = find(attributes, key);
  if (text == nullptr) return otherwise;
  if (*text == "true" || *text == "True" || *text == "1") return true;
  if (*text == "false" || *text == "False" || *text == "0") return false;
  fail(Code::I03, where, fmt::format("{}: expected true or false, found {}", key, quote(*text)),
       "Write true or false.");
  return otherwise;
}

void GraphBuilder::add_node(const std::string& id, const Attributes& attributes,
                            const Where& where) {
  const auto index = node(id, where);
  if (!index) return;
  if (declared_[*index]) {
    return fail(Code::I02, where, fmt::format("a second node is called {}", quote(id)),
                "Give every node an id of its own.");
  }
  declared_[*index] = true;
  read_node(*index, attributes, where);
}

void GraphBuilder::add_to_node(const std::string& id, const Attributes& attributes,
                               const Where& where) {
  const auto index = node(id, where);
  if (!index) return;
  Attributes& said = said_[*index];
  for (const auto& [key, value] : attributes) {
    const auto [before, is_new] = said.emplace(key, value);
    if (is_new || before->second == value) continue;
    return fail(Code::I03, where,
                fmt::format("the {} of {} is {} here and {} before", key, quote(id), quote(value),
                            quote(before->second)),
                "Say the same of a node everywhere.");
  }
  read_node(*index, attributes, where);
}

void GraphBuilder::require_node(const std::string& id, const Where& where) {
  const auto found = index_.find(id);
  if (found != index_.end() && declared_[found->second]) return;
  std::vector<std::string_view> ids;
  if (!failed_) {  // the first is enough: this looks at every node
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (declared_[i]) ids.push_back(graph_.nodes[i].id);
    }
  }
  const std::string suggestion = topology::suggest_id(id, ids);
  fail(Code::I02, where,
       fmt::format("an edge ends at {}, which is no node of the graph", quote(id)),
       suggestion.empty() ? "Add it to the nodes. Is the file cut off?" : suggestion);
}

void GraphBuilder::read_node(std::size_t index, const Attributes& attributes, const Where& where) {
  GraphNode& entry = graph_.nodes[index];
  const std::string& id = entry.id;
  if (const std::string* type = find(attributes, "type")) {
    const bool compute = *type == "compute" || *type == "gpu";
    const bool relay = *type == to_string(NodeType::relay);
    if (!compute && !relay && *type != "switch") {
      fail(Code::I03, where,
           fmt::format("the type of {}: expected compute or switch, found {}", quote(id),
                       quote(*type)),
           "Or name the GPUs: `compute=PATTERN`.");
    }
    entry.type = compute ? NodeType::compute : relay ? NodeType::relay : NodeType::switch_node;
    typed_[index] = true;
  }
  if (const std::string* box = find(attributes, "box"); box && is_plain("box", *box, where)) {
    entry.box = *box;
  }
  if (const std::string* rank = find(attributes, "rank")) {
    entry.rank = natural(*rank);
    if (!entry.rank) {
      fail(Code::I03, where, fmt::format("rank: found {}", quote(*rank)), "Number ranks from 0.");
    }
  }
  if (const std::string* weight = find(attributes, "weight")) {
    const auto value = parse_ratio(*weight);
    if (!value || *value < Ratio(0)) {
      fail(Code::I03, where, fmt::format("weight: found {}", quote(*weight)),
           "A GPU's weight is its share of the data: a number such as 1, or 0.");
    }
    entry.weight = value.value_or(Ratio(1));
  }
  entry.multicast = truth(attributes, "multicast", entry.multicast, where);
  entry.reduce = truth(attributes, "reduce", entry.reduce, where);
  entry.echo = truth(attributes, "echo", entry.echo, where);
  entry.enabled = truth(attributes, "enabled", entry.enabled, where);
}

// Labels go into reports and other formats as they are.
bool GraphBuilder::is_plain(std::string_view key, const std::string& label, const Where& where) {
  const auto control = topology::find_control(label);
  if (!control) return true;
  fail(Code::I03, where,
       fmt::format("the {} {} has the control character {}", key, quote(label), *control),
       "Take it out.");
  return false;
}

// An edge's "weight" is often something else where it has a bandwidth or a capacity too.
std::optional<Ratio> GraphBuilder::bandwidth_of(const std::string& src, const std::string& dst,
                                                const Attributes& attributes, const Where& where) {
  if (const auto given = context_.overridden("link")) return given;
  std::optional<Ratio> bandwidth;
  for (const std::string_view key : {"bandwidth", "capacity", "weight"}) {
    const std::string* text = find(attributes, key);
    if (text == nullptr || (bandwidth && key == "weight")) continue;
    const auto value = topology::parse_quantity(Quantity::bandwidth, *text, Ratio(1));
    if (!value || *value <= Ratio(0)) {
      fail(Code::I03, where,
           fmt::format("the {} from {} to {}: expected a positive number of GB/s or a text such as "
                       "\"200 Gb/s\", found {}",
                       key, quote(src), quote(dst), quote(*text)),
           value && *value == Ratio(0) ? "Leave out an edge that carries nothing."
                                       : topology::remedy_of_bandwidth(*text));
      return std::nullopt;
    }
    if (bandwidth && *bandwidth != *value) {
      fail(Code::I03, where,
           fmt::format("the edge from {} to {} has the bandwidth {} and the capacity {}",
                       quote(src), quote(dst), quote(*find(attributes, "bandwidth")), quote(*text)),
           "Leave one of them out.");
      return std::nullopt;
    }
    bandwidth = value;
    weight_is_bandwidth_ = weight_is_bandwidth_ || key == "weight";
  }
  if (bandwidth) return bandwidth;
  fail(Code::I05, where,
       fmt::format("the edge from {} to {} has no bandwidth, capacity or weight", quote(src),
                   quote(dst)),
       "Add one to each edge, or give all of them one: `bandwidths=FILE.csv` with a line "
       "\"link,25\" (GB/s).");
  return std::nullopt;
}

// `count` multiplies the bandwidth, `cables` are those that it is the sum of.
bool GraphBuilder::read_counts(const Attributes& attributes, FlatLink& link, const Where& where) {
  std::int64_t count = 1, cables = 1;
  for (const auto& [key, value] : {std::pair("count", &count), std::pair("cables", &cables)}) {
    const std::string* text = find(attributes, key);
    if (text == nullptr) continue;
    const auto number = natural(*text);
    if (!number || *number == 0) {
      fail(Code::I03, where, fmt::format("{}: found {}", key, quote(*text)),
           "Give a whole number of parallel links, at least 1.");
      return false;
    }
    *value = *number;
  }
  const auto single = checked_div(link.bandwidth, Ratio(cables));
  const auto all = checked_mul(Ratio(count), Ratio(cables));
  if (!single || !all) {
    fail(Code::I03, where,
         fmt::format(
             "{} GB/s, count {} and cables {} are too large or too fine for exact arithmetic",
             link.bandwidth.to_string(), count, cables),
         "Write fewer digits.");
    return false;
  }
  link.bandwidth = *single;
  link.count = all->num();
  return true;
}

void GraphBuilder::add_link(const std::string& src, const std::string& dst,
                            const Attributes& attributes, bool directed, const Where& where) {
  const auto from = node(src, where), to = node(dst, where);
  if (!from || !to) return;
  if (graph_.links.size() == 16 * kMaxParts) {
    return fail(Code::I09, where, fmt::format("more than {} links", 16 * kMaxParts), kSmaller);
  }
  if (from == to) {
    return fail(Code::I02, where, fmt::format("an edge leads from {} to itself", quote(src)),
                "Leave it out: data that stays needs no link.");
  }
  const auto bandwidth = bandwidth_of(src, dst, attributes, where);
  if (!bandwidth) return;
  GraphLink entry{.link = {.src = src, .dst = dst, .bandwidth = *bandwidth}};
  if (const std::string* latency = find(attributes, "latency")) {
    const auto value = topology::parse_quantity(Quantity::latency, *latency, Ratio(1));
    if (!value || *value < Ratio(0)) {
      return fail(Code::I03, where, fmt::format("latency: found {}", quote(*latency)),
                  "Give a number of us, or a text such as \"500 ns\".");
    }
    entry.link.latency = *value;
  }
  if (!read_counts(attributes, entry.link, where)) return;
  if (const std::string* kind = find(attributes, "kind"); kind && is_plain("kind", *kind, where)) {
    entry.link.kind = *kind;
  }
  entry.link.full_duplex = !directed;
  if (const std::string* duplex = find(attributes, "duplex")) {
    if (*duplex != "full" && *duplex != "simplex") {
      return fail(Code::I03, where, fmt::format("duplex: found {}", quote(*duplex)),
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
        "every node is a GPU: no node has a type (`compute=PATTERN` names the GPUs)");
    return true;
  }
  const GraphNode& node = graph_.nodes[static_cast<std::size_t>(untyped - typed_.begin())];
  context_.findings.error(
      Code::I05, "", fmt::format("the node {} has no type, and others have one", quote(node.id)),
      "Give each node the type compute or switch, or name the GPUs: "
      "`compute=PATTERN`.");
  return false;
}

std::optional<Graph> GraphBuilder::finish(const std::string& name, const std::string& description) {
  if (failed_ || !decide_types()) return std::nullopt;
  if (weight_is_bandwidth_) {
    context_.report.guesses.emplace_back(
        "the weight of an edge is its GB/s (an attribute bandwidth says so)");
  }
  graph_.name = topology::without_controls(name);
  graph_.description = topology::without_controls(description, topology::kLayoutOfProse);
  return std::move(graph_);
}

TopologyDocument to_document(const Graph& graph) {
  TopologyDocument document{.name = graph.name, .description = graph.description};
  add_nodes(graph, document);
  add_links(graph, true, document);
  add_links(graph, false, document);
  document.rank_order = rank_order(graph);
  document.top.limits = graph.limits;
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
