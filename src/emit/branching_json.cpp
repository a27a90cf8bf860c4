#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "emit/forest_text.hpp"
#include "emit/text.hpp"
#include "forestcoll/emit.hpp"

namespace forestcoll {
namespace {

void append_phase(std::string& out, std::string_view key, const std::vector<BranchingTrees>& phase,
                  const emit::Names& names) {
  out += fmt::format(",\n\"{}\":[", key);
  std::string_view separator = "\n";
  for (const BranchingTrees& trees : phase) {
    for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
      out += separator;
      separator = ",\n";
      emit::append_tree(out, trees.forest, TreeId(t), names, false);
    }
  }
  out += "\n]";
}

}  // namespace

std::string to_forest_json(const BranchingForest& forest, const Topology& topology) {
  const emit::Names names = emit::quoted_names(topology);
  std::string out =
      fmt::format(R"({{"format":"forestcoll-forest","version":3,"topology":{},"collective":"{}",)"
                  "\"chunks\":{},\n\"algbw\":{},\n\"optimum\":{}",
                  emit::json_string(topology.name), to_string(forest.collective), forest.chunks,
                  emit::rate(forest.algbw), emit::rate(forest.optimum));
  if (forest.root) {
    out += fmt::format(",\n\"root\":{}", names[forest.ranks[forest.root->index()]]);
  }
  out += ",\n\"ranks\":";
  emit::append_list(out, forest.ranks, names);
  const bool two = forest.collective == Collective::allreduce;
  if (two || !forest.reduce.empty()) {
    append_phase(out, two ? "reduce" : "trees", forest.reduce, names);
  }
  if (two || !forest.broadcast.empty()) {
    append_phase(out, two ? "broadcast" : "trees", forest.broadcast, names);
  }
  return out + "}\n";
}

}  // namespace forestcoll
