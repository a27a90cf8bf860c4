#include "solver/height/edges/rows.hpp"

#include <algorithm>

#include "forest/depths.hpp"
#include "solver/common/join_trees.hpp"

namespace forestcoll::solver {
HeightRows::HeightRows(const TreeRows& rows)
    : rows_(rows),
      ranks_(rows.core.compute.size()),
      depth_(rows.routes.size()),
      below_(rows.routes.size()),
      stale_(rows.trees.size(), 1),
      maker_(rows.core, rows.table) {
  maker_.note(rows.routes);
}

// False where the routes lead round in a cycle.
bool HeightRows::measure(std::size_t t) {
  stale_[t] = 0;
  steps_ += static_cast<std::int64_t>(2 * ranks_);
  const std::size_t root = rows_.trees[t].root.index();
  const auto routes = std::span(rows_.routes).subspan(t * ranks_, ranks_);
  const auto depth = std::span(depth_).subspan(t * ranks_, ranks_);
  const auto below = std::span(below_).subspan(t * ranks_, ranks_);
  parent_.resize(ranks_);
  for (std::size_t v = 0; v < ranks_; ++v) {
    if (v != root) parent_[v] = rows_.table.origin(routes[v].prefix).index();
  }
  const auto parent = [&](std::size_t v) { return parent_[v]; };
  const auto height = fill_depths(depth, root, parent);
  if (!height) return false;
  fill_below(below, root, parent);
  rows_.trees[t].height = *height;
  return true;
}

bool HeightRows::exchange(std::size_t a, std::size_t b, std::span<const Rank> ranks) {
  for (const Rank r : ranks) {
    std::swap(rows_.routes[a * ranks_ + r.index()], rows_.routes[b * ranks_ + r.index()]);
  }
  stale_[a] = stale_[b] = 1;
  return measure(a) && measure(b);
}

std::size_t HeightRows::count_from(std::size_t t, std::int32_t depth) {
  refresh(t);
  const auto depths = std::span(depth_).subspan(t * ranks_, ranks_);
  return static_cast<std::size_t>(
      std::count_if(depths.begin(), depths.end(), [&](std::int32_t d) { return d >= depth; }));
}

bool HeightRows::is_below(TreeEdge edge, std::size_t u) {
  refresh(edge.tree);
  const std::int32_t depth = depth_[at(edge)];
  while (depth_[edge.tree * ranks_ + u] > depth) u = parent({edge.tree, u});
  return u == edge.node;
}

void HeightRows::set_route(TreeEdge edge, Route route) {
  rows_.routes[at(edge)] = route;
  stale_[edge.tree] = 1;
}

std::size_t HeightRows::split(std::size_t tree, std::int64_t amount) {
  const std::size_t copy = tree_count();
  rows_.trees.push_back(rows_.trees[tree]);
  rows_.trees[tree].multiplicity -= amount;
  rows_.trees[copy].multiplicity = amount;
  stale_.push_back(1);
  rows_.routes.resize(rows_.routes.size() + ranks_);
  depth_.resize(rows_.routes.size());
  below_.resize(rows_.routes.size());
  std::copy_n(rows_.routes.begin() + static_cast<std::ptrdiff_t>(tree * ranks_), ranks_,
              rows_.routes.begin() + static_cast<std::ptrdiff_t>(copy * ranks_));
  return copy;
}

void HeightRows::unsplit(std::size_t tree, std::size_t copy) {
  rows_.trees[tree].multiplicity += rows_.trees[copy].multiplicity;
  rows_.trees.pop_back();
  rows_.routes.resize(rows_.routes.size() - ranks_);
  depth_.resize(rows_.routes.size());
  below_.resize(rows_.routes.size());
  stale_.pop_back();
}

void HeightRows::join_equal_trees() {
  for (std::size_t t = 0; t < tree_count(); ++t) refresh(t);
  solver::join_equal_trees(rows_.trees, rows_.routes, ranks_);
  depth_.assign(rows_.routes.size(), 0);
  below_.assign(rows_.routes.size(), 0);
  stale_.assign(tree_count(), 1);
}

}  // namespace forestcoll::solver
