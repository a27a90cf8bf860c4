#include "common/synthesis/output/tree_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "forestcoll/convert.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

/// The forest whose first tree is shown, and how many trees like it there are.
struct Shown {
  const Forest* forest = nullptr;
  std::size_t trees = 0;
  bool has_reduce = false, has_broadcast = false;
};

Shown find_shown(const Compilation& made) {
  Shown shown;
  const auto take = [&](const Forest& forest, bool reduces) {
    (reduces ? shown.has_reduce : shown.has_broadcast) = true;
    // The phases of an allreduce are alike; the broadcast is the easier one to follow.
    if (shown.forest == nullptr || (!reduces && shown.forest->is_in_forest())) {
      shown.forest = &forest;
      shown.trees = 0;
    }
    if (shown.forest->is_in_forest() == reduces) shown.trees += forest.tree_count();
  };
  if (made.branching) {
    for (const BranchingTrees& trees : made.branching->reduce) take(trees.forest, true);
    for (const BranchingTrees& trees : made.branching->broadcast) take(trees.forest, false);
    return shown;
  }
  const CollectiveForest& forest = made.chosen.synthesis.forest;
  if (forest.reduce) take(*forest.reduce, true);
  if (forest.broadcast) take(*forest.broadcast, false);
  return shown;
}

/// By rank of the forest: how many messages lie between it and the root. What a switch passes on
/// is the same message.
std::vector<std::size_t> depths_of(const Forest& forest, TreeId tree, const Topology& topology) {
  std::vector<std::size_t> depths(forest.rank_count(), 0);
  for (const Rank rank : forest.by_depth(tree)) {
    const Rank parent = forest.parent(tree, rank);
    if (!parent.valid()) continue;
    const bool is_switch =
        topology.nodes[forest.ranks()[rank.index()]].type == NodeType::switch_node;
    depths[rank.index()] = depths[parent.index()] + (is_switch ? 0 : 1);
  }
  return depths;
}

/// By rank of the forest: whether nothing passes it on. Trees that branch span all their switches,
/// those that have nothing to do there, too.
std::vector<bool> idle_switches(const Forest& forest, TreeId tree, const Topology& topology) {
  std::vector<bool> idle(forest.rank_count(), false);
  for (std::size_t i = 0; i < idle.size(); ++i) {
    idle[i] = topology.nodes[forest.ranks()[i]].type == NodeType::switch_node;
  }
  auto order = forest.by_depth(tree);
  std::ranges::reverse(order);  // from the leaves on
  for (const Rank rank : order) {
    const Rank parent = forest.parent(tree, rank);
    if (parent.valid() && !idle[rank.index()]) idle[parent.index()] = false;
  }
  return idle;
}

/// Rounds count from the first data that moves: from the root, or from the leaves.
std::vector<DrawnHop> hops_of(const Forest& forest, TreeId tree, const Topology& topology) {
  const auto depths = depths_of(forest, tree, topology);
  const std::size_t last = *std::ranges::max_element(depths);
  const auto idle = idle_switches(forest, tree, topology);
  std::vector<DrawnHop> hops;
  for (const Rank rank : forest.by_depth(tree)) {
    const Rank parent = forest.parent(tree, rank);
    if (!parent.valid() || idle[rank.index()]) continue;
    const std::size_t before = depths[parent.index()];  // the round to a switch goes on from it
    const std::size_t round = forest.is_in_forest() ? last - before - 1 : before;
    const std::vector<NodeId> path = forest.path(tree, rank);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) hops.push_back({path[i], path[i + 1], round});
  }
  return hops;
}

}  // namespace

std::string tree_picture(const Compilation& made, const Topology& topology) {
  const Shown shown = find_shown(made);
  const TreeId tree(std::size_t{0});
  const NodeId root = shown.forest->ranks()[shown.forest->tree(tree).root.index()];
  const bool reduces = shown.forest->is_in_forest();
  const Collective collective =
      made.branching ? made.branching->collective : made.chosen.synthesis.forest.collective;
  DrawOptions options;
  options.hops = hops_of(*shown.forest, tree, topology);
  options.root = root;
  options.title = fmt::format("{} on {}: the tree {} {}", to_string(collective), topology.name,
                              reduces ? "towards" : "from", topology.nodes[root].id);
  options.note = fmt::format("1 of {}; all run at once, each with its part of the data",
                             counted(shown.trees, "tree"));
  if (shown.has_reduce && shown.has_broadcast) {
    options.note += "; before that, other trees sum the data up at the roots";
  }
  return draw(topology, options).svg;
}

}  // namespace forestcoll::cli
