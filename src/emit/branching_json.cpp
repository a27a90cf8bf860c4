#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "emit/forest_text.hpp"
#include "emit/text.hpp"
#include "forestcoll/emit_branching.hpp"

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
  std::string out = fmt::format(
      R"({{"format":"forestcoll-forest","version":3,"topology":{},"collective":"allreduce",)"
      "\"chunks\":{},\n\"algbw\":{},\n\"optimum\":{},\n\"ranks\":",
      emit::json_string(topology.name), forest.chunks, emit::rate(forest.algbw),
      emit::rate(forest.optimum));
  emit::append_list(out, forest.ranks, names);
  append_phase(out, "reduce", forest.reduce, names);
  append_phase(out, "broadcast", forest.broadcast, names);
  return out + "}\n";
}

}  // namespace forestcoll
