#include "emit/forest_text.hpp"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "emit/phases.hpp"
#include "topology/format/json_value.hpp"

namespace forestcoll::emit {

Names quoted_names(const Topology& topology) {
  Names names;
  names.reserve(topology.nodes.size());
  for (const TopologyNode& node : topology.nodes) names.push_back(topology::quote_json(node.id));
  return names;
}

std::string rate(const Ratio& ratio) {
  return fmt::format(R"({{"exact":"{}","value":{}}})", ratio.to_string(), ratio.to_double());
}

void append_list(std::string& out, std::span<const NodeId> nodes, const Names& names) {
  out += '[';
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) out += ',';
    out += names[nodes[i]];
  }
  out += ']';
}

void append_tree(std::string& out, const Forest& forest, TreeId t, const Names& names,
                 bool images) {
  const Forest::Tree& tree = forest.tree(t);
  fmt::format_to(std::back_inserter(out),
                 R"({{"root":{},"multiplicity":{},"height":{},{}"edges":[)",
                 names[forest.ranks()[tree.root.index()]], tree.multiplicity, tree.height,
                 images ? R"("images":true,)" : "");
  bool first = true;
  for (const Rank child : edges(forest, t)) {
    const std::vector<NodeId> path = forest.path(t, child);
    out += first ? R"({"src":)" : R"(,{"src":)";
    first = false;
    out += names[path.front()];
    out += R"(,"dst":)";
    out += names[path.back()];
    out += R"(,"path":)";
    append_list(out, path, names);
    out += '}';
  }
  out += "]}";
}

}  // namespace forestcoll::emit
