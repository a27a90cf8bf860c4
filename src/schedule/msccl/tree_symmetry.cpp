#include "schedule/msccl/tree_symmetry.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace forestcoll::schedule {
namespace {

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

class Finder {
 public:
  explicit Finder(const CollectiveForest& forest) {
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

}  // namespace

TreeSymmetry find_tree_symmetry(const CollectiveForest& forest) {
  return Finder(forest).find();
}

}  // namespace forestcoll::schedule
