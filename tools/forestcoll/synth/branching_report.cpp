#include "synth/branching_report.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "common/report/share.hpp"
#include "common/report/tree_shape.hpp"

namespace forestcoll::cli {
namespace {

// By id, each once.
std::vector<std::string> switches_of(const BranchingForest& forest, const Topology& topology) {
  std::set<NodeId> switches;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (const BranchingTrees& trees : *phase) {
      switches.insert(trees.switches.begin(), trees.switches.end());
    }
  }
  std::vector<std::string> names;
  for (const NodeId w : switches) names.push_back(topology.nodes[w].id);
  return names;
}

std::string_view words_of(Branching written) {
  switch (written) {
    case Branching::trees:
      return "  trees branch at ";
    case Branching::sums:
      return "  sums and copies in ";
    case Branching::packets:
      break;
  }
  return "  packets, faster up to --max-bytes (model, not measurement), added up by every GPU; "
         "copied "
         "in ";
}

}  // namespace

std::string branching_lines(const BranchingForest& forest, const CollectiveForest& without,
                            const Topology& topology, Branching written) {
  const TreeShape shape = shape_of(forest);
  const auto switches = switches_of(forest, topology);
  std::string text = fmt::format("  algbw {} GB/s, {}\n", number(forest.algbw),
                                 of_optimum(forest.algbw, forest.optimum));
  text += words_of(written);
  text += switches.size() == 1
              ? fmt::format("the switch {}", switches.front())
              : fmt::format("{} switches, {} first", switches.size(), switches.front());
  if (forest.collective == Collective::allreduce) {
    text += fmt::format("; over GPUs alone {} GB/s\n", number(without.algbw));
  } else {
    text += fmt::format("; {} one after the other, over GPUs alone {}\n",
                        counted(static_cast<std::size_t>(messages_in_turn(forest)), "message"),
                        shape_of(without).highest);
  }
  if (written != Branching::trees) return text;
  return text + fmt::format(
                    "  {} chunks, {}, height {} (mean {}), hops into and out of switches "
                    "counted\n",
                    forest.chunks, counted(static_cast<std::size_t>(shape.trees), "tree"),
                    shape.highest, number(shape.mean_height));
}

void put_branching(Json& json, const BranchingForest& forest, const CollectiveForest& without,
                   const Topology& topology) {
  const TreeShape shape = shape_of(forest);
  json["k"] = 1;
  json["chunks"] = forest.chunks;
  json["algbw"] = exact(forest.algbw);
  json["optimum"] = exact(forest.optimum);
  json["trees"] = shape.trees;
  json["height"] = {{"max", shape.highest}, {"mean", shape.mean_height}, {"lower_bound", 1}};
  json["branching"] = {{"switches", switches_of(forest, topology)},
                       {"over_gpus_alone", exact(without.algbw)}};
  json.erase("trees_per_root");  // switches can be roots
  json.erase("tradeoff");
}

}  // namespace forestcoll::cli
