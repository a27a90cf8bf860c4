#include "schedule/msccl/views.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/msccl/tree_symmetry.hpp"

namespace forestcoll::schedule {
namespace {

bool are_same(const Symmetry& a, const Symmetry& b) {
  return std::ranges::equal(a.generators(), b.generators(), [](const auto& x, const auto& y) {
    return x.order == y.order && x.nodes == y.nodes;
  });
}

// Which tree each becomes, where a forest has as many for every root of an orbit: it lists those
// that are images of one another in the same order.
std::optional<Action<TreeId>::Image> trees_of(const Forest& forest,
                                              const Symmetry::Generator& generator) {
  std::map<Rank, std::vector<TreeId>> of_root;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    of_root[forest.tree(TreeId(t)).root].emplace_back(t);
  }
  Action<TreeId>::Image image(forest.tree_count());
  for (const auto& [root, trees] : of_root) {
    const auto images = of_root.find(generator.ranks[root]);
    if (images == of_root.end() || images->second.size() != trees.size()) return std::nullopt;
    for (std::size_t i = 0; i < trees.size(); ++i) image[trees[i]] = images->second[i];
  }
  return image;
}

}  // namespace

Views::Views(const CollectiveForest& forest) {
  if (!take_symmetry(forest)) find_symmetry(forest);
  if (symmetry_.size() > 1) {
    find_ways_back(first_trees(forest).rank_count());
  }
}

bool Views::move_all() const {
  return keeps_order_ && symmetry_.size() > 1 &&
         std::ranges::all_of(moved_, [](char is_moved) { return is_moved != 0; });
}

// The one that the forest has been made with.
bool Views::take_symmetry(const CollectiveForest& forest) {
  const Symmetry* symmetry = nullptr;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (!*phase) continue;
    if (symmetry != nullptr && !are_same(*symmetry, (*phase)->symmetry())) return false;
    symmetry = &(*phase)->symmetry();
  }
  for (const Symmetry::Generator& generator : symmetry->generators()) {
    for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
      if (!*phase) continue;
      const auto image = trees_of(**phase, generator);
      if (!image) return false;
      trees(phase == &forest.reduce).add_generator(*image, Symmetry::width(generator));
    }
  }
  symmetry_ = *symmetry;
  knows_nodes_ = keeps_order_ = true;
  return symmetry_.size() > 1;
}

void Views::find_symmetry(const CollectiveForest& forest) {
  TreeSymmetry found = find_tree_symmetry(forest);
  up_ = down_ = {};
  for (std::size_t i = 0; i < found.generators.size(); ++i) {
    for (auto* action : {&up_, &down_}) {
      action->add_generator(found.trees[i], Symmetry::width(found.generators[i]));
    }
  }
  const Forest& trees = first_trees(forest);
  keeps_order_ = std::ranges::equal(found.generators, found.trees,
                                    [&](const auto& generator, const auto& image) {
                                      return image == trees_of(trees, generator);
                                    });
  symmetry_ = Symmetry(std::move(found.generators));
  knows_nodes_ = false;
}

void Views::find_ways_back(std::size_t ranks) {
  back_.resize(ranks);
  moved_.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const Rank first(r);
    const bool is_fixed = symmetry_.apply(symmetry_.element(1), first) == first;
    if (is_fixed || moved_[first] != 0) continue;
    for (std::size_t i = 0; i < symmetry_.size(); ++i) {
      const Element g = symmetry_.element(i);
      const Rank image = symmetry_.apply(g, first);
      back_[image] = symmetry_.inverse(g);
      moved_[image] = 1;
    }
  }
}

}  // namespace forestcoll::schedule
