#include "solver/height.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace forestcoll::solver {
namespace {

class Lowering {
 public:
  Lowering(const RouteTable& table, std::vector<Forest::Tree>& trees, std::span<Route> routes,
           std::size_t ranks, std::int64_t effort)
      : table_(table),
        trees_(trees),
        routes_(routes),
        ranks_(ranks),
        effort_(effort),
        depth_(routes.size()),
        below_(routes.size()) {}

  void run() {
    for (std::size_t t = 0; t < trees_.size(); ++t) measure(t);
    std::vector<std::size_t> order(trees_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (bool progress = true; progress && effort_ > 0;) {
      progress = false;
      std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
        return trees_[a].height > trees_[b].height;
      });
      for (const std::size_t t : order) {
        while (effort_ > 0 && lower(t)) progress = true;
      }
    }
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t tree, std::size_t rank) const {
    return tree * ranks_ + rank;
  }
  [[nodiscard]] std::size_t parent(std::size_t tree, std::size_t rank) const {
    return table_.origin(routes_[at(tree, rank)].prefix).index();
  }

  // Depths, and how far the deepest descendant of each node is below it.
  void measure(std::size_t tree) {
    effort_ -= static_cast<std::int64_t>(ranks_);
    const std::size_t root = trees_[tree].root.index();
    const auto depth = std::span(depth_).subspan(at(tree, 0), ranks_);
    const auto below = std::span(below_).subspan(at(tree, 0), ranks_);
    std::fill(depth.begin(), depth.end(), -1);
    std::fill(below.begin(), below.end(), 0);
    depth[root] = 0;
    std::int32_t height = 0;
    for (std::size_t v = 0; v < ranks_; ++v) {
      chain_.clear();
      std::size_t u = v;
      for (; depth[u] < 0; u = parent(tree, u)) chain_.push_back(u);
      for (std::int32_t d = depth[u]; !chain_.empty(); chain_.pop_back()) {
        depth[chain_.back()] = ++d;
      }
      height = std::max(height, depth[v]);
    }
    for (std::size_t v = 0; v < ranks_; ++v) {
      std::int32_t down = 0;
      // Stops where a longer way down is known: each node is passed once per rise of its value.
      for (std::size_t u = v; u != root; u = parent(tree, u)) {
        std::int32_t& known = below[parent(tree, u)];
        if (known >= ++down) break;
        known = down;
      }
    }
    trees_[tree].height = height;
  }

  // One exchange that shortens a longest path of the tree; false where there is none.
  bool lower(std::size_t tree) {
    effort_ -= static_cast<std::int64_t>(ranks_);
    const std::int32_t height = trees_[tree].height;
    for (std::size_t v = 0; v < ranks_; ++v) {
      const std::int32_t depth = depth_[at(tree, v)];
      if (depth < 2 || depth + below_[at(tree, v)] != height) continue;
      if (const auto partner = find_partner(tree, v); partner != tree) {
        std::swap(routes_[at(tree, v)], routes_[at(partner, v)]);
        measure(tree);
        measure(partner);
        return true;
      }
    }
    return false;
  }

  // The tree whose edge into `v` brings it highest up in `tree`, for an exchange after which the
  // deepest node below `v` is less deep, in both trees, than it was in `tree`; `tree` if none.
  std::size_t find_partner(std::size_t tree, std::size_t v) {
    const std::int32_t deepest = depth_[at(tree, v)] + below_[at(tree, v)];
    const std::size_t old_parent = parent(tree, v);
    std::int32_t best_depth = depth_[at(tree, v)];
    std::size_t best = tree;
    for (std::size_t other = 0; other < trees_.size(); ++other) {
      if (--effort_ <= 0) break;
      if (trees_[other].multiplicity != trees_[tree].multiplicity || other == tree ||
          trees_[other].root.index() == v) {
        continue;
      }
      const std::size_t new_parent = parent(other, v);
      const std::int32_t here = depth_[at(tree, new_parent)] + 1;
      const std::int32_t there = depth_[at(other, old_parent)] + 1;
      if (here >= best_depth || there + below_[at(other, v)] >= deepest) continue;
      if (is_below(tree, new_parent, v) || is_below(other, old_parent, v)) continue;
      best_depth = here;
      best = other;
    }
    return best;
  }

  // Is `u` the node `v` or below it?
  [[nodiscard]] bool is_below(std::size_t tree, std::size_t u, std::size_t v) const {
    while (depth_[at(tree, u)] > depth_[at(tree, v)]) u = parent(tree, u);
    return u == v;
  }

  const RouteTable& table_;
  std::vector<Forest::Tree>& trees_;
  std::span<Route> routes_;
  std::size_t ranks_;
  std::int64_t effort_;
  std::vector<std::int32_t> depth_, below_;  ///< by tree and rank
  std::vector<std::size_t> chain_;
};

}  // namespace

void lower_heights(const RouteTable& table, std::vector<Forest::Tree>& trees,
                   std::span<Route> routes, std::size_t ranks, std::int64_t effort) {
  const bool tall = std::any_of(trees.begin(), trees.end(),
                                [](const Forest::Tree& tree) { return tree.height > 2; });
  if (tall) Lowering(table, trees, routes, ranks, effort).run();
}

}  // namespace forestcoll::solver
