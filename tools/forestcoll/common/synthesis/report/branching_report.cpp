#include "common/synthesis/report/branching_report.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <vector>

#include "common/report/solver_report.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

// By id, each once.
std::set<NodeId> switches_of(const BranchingForest& forest) {
  std::set<NodeId> switches;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (const BranchingTrees& trees : *phase) {
      switches.insert(trees.switches.begin(), trees.switches.end());
    }
  }
  return switches;
}

std::vector<std::string> names_of(const std::set<NodeId>& switches, const Topology& topology) {
  std::vector<std::string> names;
  for (const NodeId w : switches) names.push_back(topology.nodes[w].id);
  return names;
}

/// Of the switches at which trees branch: those of boxes, which a plan has channels through, and
/// those between boxes, which it has not.
struct BranchingPoints {
  std::vector<std::string> in_boxes, between;
};

BranchingPoints points_of(const BranchingForest& forest, const Topology& topology) {
  const auto boxes = boxes_of_nodes(topology);
  const bool several = has_several_boxes(topology);
  BranchingPoints points;
  for (const NodeId w : switches_of(forest)) {
    auto& names = several && boxes[w] < 0 ? points.between : points.in_boxes;
    names.push_back(topology.nodes[w].id);
  }
  return points;
}

std::string listed(const std::vector<std::string>& switches) {
  if (switches.empty()) return "no switch";
  return switches.size() == 1
             ? fmt::format("the switch {}", switches.front())
             : fmt::format("{} switches, {} first", switches.size(), switches.front());
}

// What trees do and the executor cannot.
std::string lost_words(const BranchingForest& forest, const BranchingPoints& points,
                       const Ratio& reached_by_trees) {
  std::string text;
  if (!points.between.empty()) {
    text += fmt::format(
        "  {} between boxes with reduction and multicast: the executor has no channels there\n",
        listed(points.between));
  }
  if (forest.algbw < reached_by_trees) {
    text += fmt::format(
        "  trees reach up to {} GB/s (--format forest): the executor's switches sum for two GPUs "
        "at least, where one is enough to go on to other boxes\n",
        number(reached_by_trees));
  }
  return text;
}

std::string_view words_of(Branching written) {
  switch (written) {
    case Branching::trees:
      return "  trees branch at ";
    case Branching::sums:
      return "  reduction and multicast in ";
    case Branching::packets:
      return "  packets, faster up to --max-bytes (simulated), summed by every GPU; multicast in ";
    case Branching::packets_apart:
      break;
  }
  return "  packets, faster up to --max-bytes (simulated), summed by every GPU; put at each in "
         "turn, no multicast in ";
}

}  // namespace

std::string branching_lines(const BranchingForest& forest, const CollectiveForest& without,
                            const Topology& topology, Branching written, const RateFigures& rates) {
  const TreeShape shape = shape_of(forest);
  const BranchingPoints points = points_of(forest, topology);
  const bool is_plan = written != Branching::trees;
  std::string text(words_of(written));
  text += listed(is_plan ? points.in_boxes : names_of(switches_of(forest), topology));
  if (forest.collective == Collective::allreduce) {
    text += fmt::format("; over GPUs alone {} GB/s\n", number(without.algbw));
  } else {
    text += fmt::format("; {} one after the other, over GPUs alone {}\n",
                        counted(static_cast<std::size_t>(messages_in_turn(forest)), "message"),
                        shape_of(without).highest);
  }
  if (written == Branching::sums)
    return text +
           lost_words(forest, points, rates.optimum ? rates.optimum->at_least : forest.optimum);
  if (is_plan) return text;
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
  json["trees"] = shape.trees;
  json["height"] = {{"max", shape.highest}, {"mean", shape.mean_height}, {"lower_bound", 1}};
  json["branching"] = {{"switches", names_of(switches_of(forest), topology)},
                       {"over_gpus_alone", exact(without.algbw)}};
  json.erase("trees_per_root");  // switches can be roots
  json.erase("tradeoff");
}

}  // namespace forestcoll::cli
