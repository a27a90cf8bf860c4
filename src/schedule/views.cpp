#include "schedule/views.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace forestcoll::schedule {
namespace {

// A symmetry of ranks, without nodes, and which tree each of its generators makes of which.
struct TreeSymmetry {
  std::vector<Symmetry::Generator> generators;
  std::vector<Action<TreeId>::Image> trees;
};

using RankImage = Action<Rank>::Image;
using TreeImage = Action<TreeId>::Image;

// The digit of the values stride · (0 … order − 1), turned by one.
RankImage turned(std::size_t ranks, std::size_t stride, std::size_t order) {
  RankImage image;
  image.reserve(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const bool is_last = r / stride % order == order - 1;
    image.push_back(Rank(is_last ? r - (order - 1) * stride : r + stride));
  }
  return image;
}

// Numbers of ranks are read as digits (box, GPU; x, y, z), and one digit is turned by one: kept
// are turns that make of the trees of every root those of another one, in both phases alike. Of
// the lowest digits first, the most values a digit can have. Empty where there is none, or where
// the trees of both phases have different roots or multiplicities. Cost: O(N · trees) for each
// number of values that is tried, but most fail at the first trees.
class TreeSymmetryFinder {
 public:
  explicit TreeSymmetryFinder(const CollectiveForest& forest) {
    for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
      if (*phase) phases_.push_back(&**phase);
    }
  }

  TreeSymmetry find() {
    TreeSymmetry found;
    if (!are_alike()) return found;
    read_parents();
    const std::size_t ranks = phases_.front()->rank_count();
    for (std::size_t stride = 1; stride < ranks;) {
      const std::size_t left = ranks / stride;
      std::size_t order = left;
      for (; order > 1; --order) {
        if (left % order != 0) continue;
        RankImage image = turned(ranks, stride, order);
        auto trees = trees_under(image);
        if (!trees) continue;
        found.generators.push_back({static_cast<std::int32_t>(order), {}, std::move(image)});
        found.trees.push_back(*std::move(trees));
        break;
      }
      stride *= order > 1 ? order : least_factor(left);
    }
    return found;
  }

 private:
  static std::size_t least_factor(std::size_t n) {
    std::size_t factor = 2;
    while (n % factor != 0) ++factor;
    return factor;
  }

  // Do the trees of all phases have the same roots and multiplicities, one by one?
  [[nodiscard]] bool are_alike() const {
    const Forest& first = *phases_.front();
    for (const Forest* other : phases_) {
      if (other->tree_count() != first.tree_count()) return false;
      for (std::size_t t = 0; t < first.tree_count(); ++t) {
        const auto &a = first.tree(TreeId(t)), &b = other->tree(TreeId(t));
        if (a.root != b.root || a.multiplicity != b.multiplicity) return false;
      }
    }
    return true;
  }

  void read_parents() {
    const Forest& first = *phases_.front();
    for (std::size_t t = 0; t < first.tree_count(); ++t) {
      std::vector<Rank> parents;
      for (const Forest* phase : phases_) {
        for (std::size_t v = 0; v < phase->rank_count(); ++v) {
          parents.push_back(phase->parent(TreeId(t), Rank(v)));
        }
      }
      parents_.push_back(std::move(parents));
      of_root_[first.tree(TreeId(t)).root].emplace_back(t);
    }
  }

  // What the turn makes of each tree; none where it makes something else of one.
  [[nodiscard]] std::optional<TreeImage> trees_under(const RankImage& image) const {
    TreeImage result(parents_.size());
    for (const auto& [root, trees] : of_root_) {
      const auto images = of_root_.find(image[root]);
      if (images == of_root_.end() || images->second.size() != trees.size()) return std::nullopt;
      std::vector<char> taken(trees.size(), 0);
      for (const TreeId t : trees) {
        std::size_t i = 0;
        while (i < trees.size() && (taken[i] != 0 || !is_image(t, images->second[i], image))) ++i;
        if (i == trees.size()) return std::nullopt;
        taken[i] = 1;
        result[t] = images->second[i];
      }
    }
    return result;
  }

  [[nodiscard]] bool is_image(TreeId t, TreeId other, const RankImage& image) const {
    const Forest& first = *phases_.front();
    if (first.tree(t).multiplicity != first.tree(other).multiplicity) return false;
    const std::vector<Rank>&from = parents_[t.index()], &to = parents_[other.index()];
    const std::size_t ranks = image.size();
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Rank child(i % ranks);
      const Rank expected = from[i].valid() ? image[from[i]] : from[i];
      if (to[i - child.index() + image[child].index()] != expected) return false;
    }
    return true;
  }

  std::vector<const Forest*> phases_;
  std::vector<std::vector<Rank>> parents_;  // by tree: of all ranks, phase by phase
  std::map<Rank, std::vector<TreeId>> of_root_;
};

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

bool Views::move_all_ranks() const {
  return symmetry_.size() > 1 &&
         std::ranges::all_of(moved_, [](char is_moved) { return is_moved != 0; });
}

// Those whose exponents are the same but for multiples of a divisor of each generator's order, of
// the last generator first: turns of the lowest digits come first, those of boxes last.
std::size_t Views::set_of(Rank rank, std::size_t sets) const {
  int above = 0;  // bits
  for (const Symmetry::Generator& each : symmetry_.generators()) above += Symmetry::width(each);
  std::size_t number = 0;
  for (std::size_t i = symmetry_.generators().size(); i-- > 0;) {
    const Symmetry::Generator& generator = symmetry_.generators()[i];
    const int width = Symmetry::width(generator);
    above -= width;
    const std::uint32_t exponent =
        back_[rank].exponents >> above & ((std::uint32_t{1} << width) - 1);
    const std::size_t parts = std::gcd(sets, static_cast<std::size_t>(generator.order));
    number = number * parts + exponent % parts;
    sets /= parts;
  }
  return number;
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
  TreeSymmetry found = TreeSymmetryFinder(forest).find();
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
