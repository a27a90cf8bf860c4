#include "solver/portfolio/without_leaves.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "forest/route_builder.hpp"
#include "solver/common/join_trees.hpp"

namespace forestcoll::solver {
namespace {

using Kept = IdVector<Rank, char>;

// What a tree spans without its leaves that are switches.
Kept without_leaves(const Forest& forest, TreeId t, std::size_t ranks) {
  Kept kept(forest.rank_count(), 1);
  IdVector<Rank, std::int32_t> children(forest.rank_count(), 0);
  const Rank root = forest.tree(t).root;
  for (std::size_t v = 0; v < forest.rank_count(); ++v) {
    if (Rank(v) != root) ++children[forest.parent(t, Rank(v))];
  }
  const auto order = forest.by_depth(t);
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const Rank v = *at;
    if (v == root || v.index() < ranks || children[v] > 0) continue;
    kept[v] = 0;
    --children[forest.parent(t, v)];
  }
  return kept;
}

/// Out-trees that branch at the same switches.
class Class {
 public:
  Class(std::vector<NodeId> switches, std::vector<NodeId> spanned)
      : switches_(std::move(switches)), spanned_(std::move(spanned)), builder_(spanned_) {}

  [[nodiscard]] const std::vector<NodeId>& switches() const { return switches_; }

  // REQUIRES: what is kept of the tree is what this spans, in the same order.
  void add(const Forest& forest, TreeId t, const Kept& kept) {
    IdVector<Rank, Rank> place(kept.size());
    std::size_t count = 0;
    for (std::size_t v = 0; v < kept.size(); ++v) {
      if (kept[Rank(v)] != 0) place[Rank(v)] = Rank(count++);
    }
    const Forest::Tree& tree = forest.tree(t);
    IdVector<Rank, std::int32_t> depth(kept.size(), 0);
    std::int32_t height = 0;
    std::vector<Route> row(count);
    for (const Rank v : forest.by_depth(t)) {
      if (v == tree.root || kept[v] == 0) continue;
      const Rank parent = forest.parent(t, v);
      depth[v] = depth[parent] + 1;
      height = std::max(height, depth[v]);
      row[place[v].index()] = builder_.add(place[parent], forest.path(t, v));
    }
    trees_.push_back({place[tree.root], tree.multiplicity, height});
    routes_.insert(routes_.end(), row.begin(), row.end());
  }

  BranchingTrees take() {
    join_equal_trees(trees_, routes_, spanned_.size());
    return {std::move(switches_), Forest(builder_.take(), std::move(trees_), std::move(routes_))};
  }

 private:
  std::vector<NodeId> switches_, spanned_;
  RouteBuilder builder_;
  std::vector<Forest::Tree> trees_;
  std::vector<Route> routes_;
};

}  // namespace

std::vector<BranchingTrees> without_leaves(std::vector<BranchingTrees> phase, std::size_t ranks) {
  std::vector<Class> classes;
  bool changed = false, inward = false;
  for (const BranchingTrees& trees : phase) {
    inward = trees.forest.is_in_forest();
    const Forest forest = inward ? trees.forest.reversed() : trees.forest;
    for (std::size_t t = 0; t < forest.tree_count(); ++t) {
      const Kept kept = without_leaves(forest, TreeId(t), ranks);
      std::vector<NodeId> spanned, switches;
      for (std::size_t v = 0; v < kept.size(); ++v) {
        if (kept[Rank(v)] == 0) continue;
        spanned.push_back(forest.ranks()[v]);
        if (v >= ranks) switches.push_back(spanned.back());
      }
      changed |= switches.size() < trees.switches.size();
      const auto same = std::ranges::find(classes, switches, &Class::switches);
      Class& own = same == classes.end() ? classes.emplace_back(switches, spanned) : *same;
      own.add(forest, TreeId(t), kept);
    }
  }
  if (!changed) return phase;
  std::vector<BranchingTrees> result;
  for (Class& each : classes) {
    result.push_back(each.take());
    if (inward) result.back().forest = result.back().forest.reversed();
  }
  return result;
}

}  // namespace forestcoll::solver
