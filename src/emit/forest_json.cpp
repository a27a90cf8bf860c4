// Forest JSON. A large fabric has a million edges, so the text is put together directly from names
// that were quoted once.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "emit/phases.hpp"
#include "emit/text.hpp"
#include "forestcoll/emit.hpp"

namespace forestcoll {
namespace {

using Names = IdVector<NodeId, std::string>;

Names quoted_names(const Topology& topology) {
  Names names;
  names.reserve(topology.nodes.size());
  for (const TopologyNode& node : topology.nodes) names.push_back(emit::json_string(node.id));
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

void append_tree(std::string& out, const Forest& forest, TreeId t, const Names& names) {
  const Forest::Tree& tree = forest.tree(t);
  fmt::format_to(std::back_inserter(out), R"({{"root":{},"multiplicity":{},"height":{},"edges":[)",
                 names[forest.ranks()[tree.root.index()]], tree.multiplicity, tree.height);
  bool first = true;
  for (const Rank child : emit::edges(forest, t)) {
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

void append_trees(std::string& out, std::string_view key, const Forest& forest,
                  const Names& names) {
  fmt::format_to(std::back_inserter(out), ",\n\"{}\":[", key);
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    out += t == 0 ? "\n" : ",\n";
    append_tree(out, forest, TreeId(t), names);
  }
  out += "\n]";
}

}  // namespace

std::string to_forest_json(const CollectiveForest& forest, const Topology& topology) {
  const Names names = quoted_names(topology);
  const auto ranks = emit::ranks_of(forest);
  std::string out =
      fmt::format(R"({{"format":"forestcoll-forest","version":1,"topology":{},"collective":"{}",)",
                  emit::json_string(topology.name), to_string(forest.collective));
  if (forest.root) out += fmt::format(R"("root":{},)", names[ranks[forest.root->index()]]);
  out += fmt::format("\"k\":{},\n\"algbw\":{},\n\"optimum\":{},\n\"ranks\":", forest.k,
                     rate(forest.algbw), rate(forest.optimum));
  append_list(out, ranks, names);
  const auto phases = emit::phases(forest);
  for (const auto& phase : phases) {
    append_trees(out, phases.size() == 1 ? "trees" : phase.name, *phase.forest, names);
  }
  return out + "}\n";
}

}  // namespace forestcoll
