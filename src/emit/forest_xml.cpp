// The tree XML of the ForestColl reference tool.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string>
#include <vector>

#include "emit/phases.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll {
namespace {

using Names = IdVector<NodeId, std::string>;

void append_tree(std::string& out, const Forest& forest, TreeId t, std::int64_t index,
                 const std::string& phase, const Names& names) {
  const Forest::Tree& tree = forest.tree(t);
  fmt::format_to(
      std::back_inserter(out), "  <tree root=\"{}\" index=\"{}\" nchunks=\"{}\" height=\"{}\"{}>\n",
      names[forest.ranks()[tree.root.index()]], index, tree.multiplicity, tree.height, phase);
  for (const Rank child : emit::edges(forest, t)) {
    const std::vector<NodeId> path = forest.path(t, child);
    fmt::format_to(std::back_inserter(out), "    <send src=\"{}\" dst=\"{}\" path=\"",
                   names[path.front()], names[path.back()]);
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (i > 0) out += ',';
      out += names[path[i]];
    }
    out += "\"/>\n";
  }
  out += "  </tree>\n";
}

// The reference tool knows equal shares only: other files have k chunks per unit of weight.
std::string weights_attribute(const IdVector<Rank, std::int64_t>& weights) {
  return weights.empty() ? "" : fmt::format(" weights=\"{}\"", fmt::join(weights, ","));
}

}  // namespace

std::string to_forest_xml(const CollectiveForest& forest, const Topology& topology) {
  Names names;
  for (const TopologyNode& node : topology.nodes) names.push_back(xml_escaped(node.id));
  std::string out =
      fmt::format("<trees nchunkspernode=\"{}\"{}>\n", forest.k, weights_attribute(forest.weight));
  const auto phases = emit::phases(forest);
  for (const auto& phase : phases) {
    const std::string attribute =
        phases.size() == 1 ? "" : fmt::format(" phase=\"{}\"", phase.name);
    IdVector<Rank, std::int64_t> trees_of(phase.forest->rank_count(), 0);
    for (std::size_t t = 0; t < phase.forest->tree_count(); ++t) {
      const std::int64_t index = trees_of[phase.forest->tree(TreeId(t)).root]++;
      append_tree(out, *phase.forest, TreeId(t), index, attribute, names);
    }
  }
  return out + "</trees>\n";
}

}  // namespace forestcoll
