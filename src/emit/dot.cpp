// Graphviz: one cluster per tree.
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "emit/phases.hpp"
#include "forestcoll/emit.hpp"
#include "topology/format/quote_dot.hpp"

namespace forestcoll {
namespace {

// The switches on the way, as an edge label; empty for a direct link.
std::string via(const std::vector<NodeId>& path, const Topology& topology) {
  std::string switches;
  for (std::size_t i = 1; i + 1 < path.size(); ++i) {
    switches += (i == 1 ? "" : " ") + topology.nodes[path[i]].id;
  }
  return switches.empty() ? "" : fmt::format(" [label={}]", topology::quote_dot_label(switches));
}

// `number`: among the trees of the phase.
void append_tree(std::string& out, const emit::Phase& phase, TreeId t, std::size_t number,
                 const Topology& topology) {
  const Forest& forest = *phase.forest;
  const Forest::Tree& tree = forest.tree(t);
  const std::string prefix = fmt::format("{}_{}", phase.name, number);
  const std::string title = fmt::format(
      "{} {}: root {}, multiplicity {}, height {}", phase.name, number,
      topology.nodes[forest.ranks()[tree.root.index()]].id, tree.multiplicity, tree.height);
  fmt::format_to(std::back_inserter(out), "  subgraph cluster_{} {{\n    label={};\n", prefix,
                 topology::quote_dot_label(title));
  for (std::size_t r = 0; r < forest.rank_count(); ++r) {
    const TopologyNode& node = topology.nodes[forest.ranks()[r]];
    fmt::format_to(std::back_inserter(out), "    {}_{} [label={}{}{}];\n", prefix, r,
                   topology::quote_dot_label(node.id),
                   node.type == NodeType::switch_node ? ", shape=ellipse" : "",
                   Rank(r) == tree.root ? ", penwidth=3" : "");
  }
  for (const Rank child : emit::edges(forest, t)) {
    Rank src = forest.parent(t, child), dst = child;
    if (forest.is_in_forest()) std::swap(src, dst);
    fmt::format_to(std::back_inserter(out), "    {}_{} -> {}_{}{};\n", prefix, src.value, prefix,
                   dst.value, via(forest.path(t, child), topology));
  }
  out += "  }\n";
}

std::string begin_graph(const std::string& title) {
  return fmt::format("digraph forest {{\n  label={};\n  node [shape=box];\n",
                     topology::quote_dot_label(title));
}

}  // namespace

std::string to_dot(const CollectiveForest& forest, const Topology& topology) {
  const std::string title =
      fmt::format("{} on {}, k = {}, {} of {} GB/s", to_string(forest.collective), topology.name,
                  forest.k, forest.algbw.to_string(), forest.optimum.to_string());
  std::string out = begin_graph(title);
  for (const auto& phase : emit::phases(forest)) {
    for (std::size_t t = 0; t < phase.forest->tree_count(); ++t) {
      append_tree(out, phase, TreeId(t), t, topology);
    }
  }
  return out + "}\n";
}

std::string to_dot(const BranchingForest& forest, const Topology& topology) {
  const std::string title =
      fmt::format("{} on {}, {} chunks, {} of {} GB/s", to_string(forest.collective), topology.name,
                  forest.chunks, forest.algbw.to_string(), forest.optimum.to_string());
  std::string out = begin_graph(title);
  for (const auto& [name, phase] :
       {std::pair("reduce", &forest.reduce), std::pair("broadcast", &forest.broadcast)}) {
    std::size_t number = 0;
    for (const BranchingTrees& trees : *phase) {
      for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
        append_tree(out, {name, &trees.forest}, TreeId(t), number++, topology);
      }
    }
  }
  return out + "}\n";
}

}  // namespace forestcoll
