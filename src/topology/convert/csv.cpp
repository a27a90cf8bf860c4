// RFC 4180, with a header line; readers find columns by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/topology_text.hpp"
#include "topology/convert/writers.hpp"

namespace forestcoll::topology {
namespace {

// What stands unquoted would lose its blanks, or be taken for a comment.
std::string field(std::string_view text) {
  const bool blanks = !text.empty() && (text.front() == ' ' || text.front() == '\t' ||
                                        text.back() == ' ' || text.back() == '\t');
  if (text.find_first_of(",\"\r\n#") == std::string_view::npos && !blanks) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// A column: its name, and what it holds in the row of an arc.
struct Column {
  std::string name;
  std::function<std::string(const DirectedLink&)> value;
};

class Table {
 public:
  explicit Table(const PlainGraph& graph) : graph_(graph), topology_(graph.topology) {
    add("src", [&](const DirectedLink& arc) { return field(graph_.id(arc.arc.tail)); });
    add("dst", [&](const DirectedLink& arc) { return field(graph_.id(arc.arc.head)); });
    add_of_link("bandwidth", [](const TopologyLink& link) { return exact_text(link.bandwidth); });
    add_of_link("latency", [](const TopologyLink& link) {
      return link.latency ? exact_text(*link.latency) : std::string();
    });
    add_of_link("kind", [](const TopologyLink& link) { return field(link.kind); });
    add("duplex", [](const DirectedLink&) { return std::string("simplex"); });
    add_of_ends("type", [](const TopologyNode& node) { return std::string(to_string(node.type)); });
    add_of_ends("box", [](const TopologyNode& node) { return field(node.box); });
    add_ranks();
    add_seldom();
    const bool bundles = std::ranges::any_of(
        graph_.arcs, [&](const DirectedLink& arc) { return topology_.links[arc.link].count != 1; });
    if (bundles) {
      add_of_link("cables", [](const TopologyLink& link) { return std::to_string(link.count); });
    }
    // Of the whole fabric: in the first row.
    add_of_fabric("topology", topology_.name);
    add_of_fabric("description", topology_.description);
  }

  [[nodiscard]] std::string text() const {
    std::vector<std::string> fields;
    for (const Column& column : columns_) fields.push_back(column.name);
    std::string out = fmt::format("{}\n", fmt::join(fields, ","));
    for (const DirectedLink& arc : graph_.arcs) {
      fields.clear();
      for (const Column& column : columns_) fields.push_back(column.value(arc));
      out += fmt::format("{}\n", fmt::join(fields, ","));
    }
    return out;
  }

 private:
  void add(std::string name, std::function<std::string(const DirectedLink&)> value) {
    columns_.push_back({std::move(name), std::move(value)});
  }
  void add_of_link(std::string name, std::string (*value)(const TopologyLink&)) {
    add(std::move(name),
        [this, value](const DirectedLink& arc) { return value(topology_.links[arc.link]); });
  }
  void add_of_ends(const std::string& name, std::string (*value)(const TopologyNode&)) {
    add("src_" + name,
        [this, value](const DirectedLink& arc) { return value(topology_.nodes[arc.arc.tail]); });
    add("dst_" + name,
        [this, value](const DirectedLink& arc) { return value(topology_.nodes[arc.arc.head]); });
  }

  void add_ranks() {
    rank_of_ = IdVector<NodeId, std::string>(topology_.nodes.size());
    for (std::size_t r = 0; r < topology_.ranks.size(); ++r) {
      rank_of_[topology_.ranks[r]] = std::to_string(r);
    }
    add("src_rank", [this](const DirectedLink& arc) { return rank_of_[arc.arc.tail]; });
    add("dst_rank", [this](const DirectedLink& arc) { return rank_of_[arc.arc.head]; });
  }

  // What most fabrics have no need of has its columns only where one does.
  void add_seldom() {
    const auto any = [&](const auto& has) {
      return std::ranges::any_of(graph_.nodes,
                                 [&](NodeId node) { return has(topology_.nodes[node]); });
    };
    if (any([](const TopologyNode& node) { return node.weight != Ratio(1); })) {
      add_of_ends("weight", [](const TopologyNode& node) { return exact_text(node.weight); });
    }
    if (any([](const TopologyNode& node) { return node.multicast; })) {
      add_of_ends("multicast", [](const TopologyNode& node) {
        return std::string(node.multicast ? "true" : "");
      });
    }
    if (any([](const TopologyNode& node) { return node.reduce; })) {
      add_of_ends("reduce",
                  [](const TopologyNode& node) { return std::string(node.reduce ? "true" : ""); });
    }
    if (any([](const TopologyNode& node) { return !node.echo; })) {
      add_of_ends("echo",
                  [](const TopologyNode& node) { return std::string(node.echo ? "" : "false"); });
    }
  }

  void add_of_fabric(std::string name, const std::string& value) {
    if (value.empty()) return;
    add(std::move(name), [this, text = field(value)](const DirectedLink& arc) {
      return &arc == graph_.arcs.data() ? text : std::string();
    });
  }

  const PlainGraph& graph_;
  const Topology& topology_;
  IdVector<NodeId, std::string> rank_of_;
  std::vector<Column> columns_;
};

}  // namespace

std::string write_csv(const PlainGraph& graph) {
  return Table(graph).text();
}

}  // namespace forestcoll::topology
