#include "solver/height/shortest.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace forestcoll::solver {
namespace {

/// One edge to be chosen: the arcs that may reach the rank, and the one that does.
struct Choice {
  std::uint32_t tree, node;
  std::uint32_t first, last;  ///< its options, in a common list
  ArcId chosen;
};

struct Choices {
  std::vector<Choice> all;
  std::vector<ArcId> options;
  [[nodiscard]] std::span<const ArcId> options_of(std::size_t c) const {
    return std::span(options).subspan(all[c].first, all[c].last - all[c].first);
  }
  void clear() {
    all.clear();
    options.clear();
  }
};

// Matches choices with units of resources by augmenting paths.
class Matching {
 public:
  Matching(const Resources& resources, std::vector<Capacity>& left)
      : resources_(resources),
        left_(left),
        users_(left.size()),
        came_from_(left.size()),
        seen_(left.size(), 0) {}

  // Rigid choices first; then the resource with the most left, so that little has to be mended.
  bool run(Choices& choices) {
    choices_ = &choices;
    order_.resize(choices.all.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return choices.options_of(a).size() < choices.options_of(b).size();
    });
    const bool matched = std::all_of(order_.begin(), order_.end(),
                                     [&](std::size_t c) { return choose_freely(c) || augment(c); });
    for (const ArcId arc : choices.options) users_[resource(arc)].clear();
    return matched;
  }

 private:
  [[nodiscard]] std::size_t resource(ArcId arc) const { return resources_.of[arc].index(); }

  void assign(std::size_t c, ArcId arc) {
    choices_->all[c].chosen = arc;
    --left_[resource(arc)];
    users_[resource(arc)].push_back(c);
  }

  bool choose_freely(std::size_t c) {
    const auto options = choices_->options_of(c);
    const auto best = std::max_element(options.begin(), options.end(), [&](ArcId a, ArcId b) {
      return left_[resource(a)] < left_[resource(b)];
    });
    if (best == options.end() || left_[resource(*best)] == 0) return false;
    assign(c, *best);
    return true;
  }

  // Breadth first over resources: a full one leads to the other options of its users.
  bool augment(std::size_t c) {
    ++search_;
    queue_.clear();
    for (const ArcId arc : choices_->options_of(c)) visit(c, arc);
    for (std::size_t q = 0; q < queue_.size(); ++q) {
      const std::size_t full = queue_[q];
      auto& users = users_[full];
      for (std::size_t i = 0; i < users.size();) {
        const std::size_t user = users[i];
        if (resource(choices_->all[user].chosen) != full) {
          users[i] = users.back();  // moved elsewhere since
          users.pop_back();
          continue;
        }
        ++i;
        for (const ArcId arc : choices_->options_of(user)) {
          if (!visit(user, arc)) continue;
          if (left_[resource(arc)] > 0) {
            shift(c, resource(arc));
            return true;
          }
        }
      }
    }
    return false;
  }

  bool visit(std::size_t c, ArcId arc) {
    const std::size_t r = resource(arc);
    if (seen_[r] == search_) return false;
    seen_[r] = search_;
    came_from_[r] = {c, arc};
    queue_.push_back(r);
    return true;
  }

  // Along the path back from resource `r` every choice moves on by one.
  void shift(std::size_t c, std::size_t r) {
    while (true) {
      const auto [mover, arc] = came_from_[r];
      const ArcId before = choices_->all[mover].chosen;
      assign(mover, arc);
      if (mover == c) return;
      r = resource(before);
      ++left_[r];
    }
  }

  const Resources& resources_;
  std::vector<Capacity>& left_;
  Choices* choices_ = nullptr;
  std::vector<std::vector<std::size_t>> users_;  ///< by resource; may hold some that moved on
  std::vector<std::pair<std::size_t, ArcId>> came_from_;
  std::vector<std::int64_t> seen_;
  std::int64_t search_ = 0;
  std::vector<std::size_t> order_, queue_;
};

class ShortestTrees {
 public:
  ShortestTrees(const TreeRows& rows, Resources& resources)
      : rows_(rows), resources_(resources), ranks_(rows.core.compute.size()) {}

  bool run(std::size_t max_edges, const std::stop_token& stop) {
    if (!is_direct() || !expand(max_edges)) return false;
    std::vector<Capacity> left(resources_.residual.begin(), resources_.residual.end());
    for (const auto& [arc, uses] : used()) left[resources_.of[arc].index()] += uses;
    if (!match(left, stop)) return false;
    write(left);
    return true;
  }

 private:
  [[nodiscard]] bool is_direct() const {
    const Core& core = rows_.core;
    for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
      if (!core.rank_of[core.graph.tail(ArcId(a))].valid() ||
          !core.rank_of[core.graph.head(ArcId(a))].valid() || resources_.weight[ArcId(a)] != 1) {
        return false;
      }
    }
    return true;
  }

  // One tree per unit of multiplicity.
  bool expand(std::size_t max_edges) {
    std::size_t left = max_edges / ranks_;
    for (const Forest::Tree& tree : rows_.trees) {
      const auto count = static_cast<std::size_t>(tree.multiplicity);
      if (count > left) return false;
      left -= count;
    }
    for (const Forest::Tree& tree : rows_.trees) {
      trees_.insert(trees_.end(), static_cast<std::size_t>(tree.multiplicity), {tree.root, 1, 0});
    }
    return true;
  }

  [[nodiscard]] std::vector<std::pair<ArcId, std::int64_t>> used() const {
    std::vector<std::int64_t> uses(rows_.core.graph.arc_count(), 0);
    for (std::size_t t = 0; t < rows_.trees.size() && !rows_.routes.empty(); ++t) {
      for (std::size_t v = 0; v < ranks_; ++v) {
        const Route route = rows_.routes[t * ranks_ + v];
        if (route.valid()) uses[route.last.index()] += rows_.trees[t].multiplicity;
      }
    }
    std::vector<std::pair<ArcId, std::int64_t>> result;
    for (std::size_t a = 0; a < uses.size(); ++a) {
      if (uses[a] > 0) result.emplace_back(ArcId(a), uses[a]);
    }
    return result;
  }

  // Where every arc is its own resource, ranks choose independently of one another.
  bool match(std::vector<Capacity>& left, const std::stop_token& stop) {
    measure();
    bool shared = false;
    for (std::size_t a = 0; a < resources_.of.size(); ++a) {
      shared |= resources_.of[ArcId(a)] != ArcId(a);
    }
    routes_.assign(trees_.size() * ranks_, Route{});
    Matching matching(resources_, left);
    for (std::size_t v = 0; v < ranks_; ++v) {
      if (stop.stop_requested()) return false;
      add_choices(v);
      if (shared && v + 1 < ranks_) continue;
      if (!matching.run(choices_)) return false;
      for (const Choice& choice : choices_.all) {
        const Rank from = rows_.core.rank_of[rows_.core.graph.tail(choice.chosen)];
        routes_[choice.tree * ranks_ + choice.node] = {PrefixId(from.value),
                                                       SegmentId(choice.chosen.value)};
      }
      choices_.clear();
    }
    return true;
  }

  // How each tree may reach rank `v`; trees of one root stand together and share their options.
  void add_choices(std::size_t v) {
    const Core& core = rows_.core;
    Rank root;
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      if (trees_[t].root.index() == v) continue;
      if (trees_[t].root != root) {
        root = trees_[t].root;
        const auto& distance = distance_[root];
        first_ = choices_.options.size();
        for (const ArcId arc : core.graph.in(core.compute[v])) {
          const Rank from = core.rank_of[core.graph.tail(arc)];
          if (distance[from.index()] + 1 == distance[v]) choices_.options.push_back(arc);
        }
      }
      choices_.all.push_back({static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(v),
                              static_cast<std::uint32_t>(first_),
                              static_cast<std::uint32_t>(choices_.options.size()), ArcId()});
    }
  }

  void measure() {
    const Core& core = rows_.core;
    distance_.assign(ranks_, {});
    for (Forest::Tree& tree : trees_) {
      auto& distance = distance_[tree.root];
      if (distance.empty()) {
        distance.assign(ranks_, std::numeric_limits<std::int32_t>::max() - 1);
        distance[tree.root.index()] = 0;
        queue_.assign(1, tree.root);
        for (std::size_t q = 0; q < queue_.size(); ++q) {
          const NodeId v = core.compute[queue_[q].index()];
          for (ArcId a = core.graph.first_out(v); a != core.graph.last_out(v); ++a.value) {
            const Rank to = core.rank_of[core.graph.head(a)];
            if (distance[to.index()] <= distance[queue_[q].index()] + 1) continue;
            distance[to.index()] = distance[queue_[q].index()] + 1;
            queue_.push_back(to);
          }
        }
      }
      tree.height = *std::max_element(distance.begin(), distance.end());
    }
  }

  void write(const std::vector<Capacity>& left) {
    rows_.trees = std::move(trees_);
    rows_.routes = std::move(routes_);
    for (std::size_t r = 0; r < left.size(); ++r) resources_.residual[ArcId(r)] = left[r];
  }

  const TreeRows& rows_;
  Resources& resources_;
  std::size_t ranks_;
  std::vector<Forest::Tree> trees_;
  std::vector<Route> routes_;
  IdVector<Rank, std::vector<std::int32_t>> distance_;  ///< from the roots
  Choices choices_;
  std::size_t first_ = 0;  ///< of the options that were added last
  std::vector<Rank> queue_;
};

}  // namespace

bool pack_shortest(const TreeRows& rows, Resources& resources, std::size_t max_edges,
                   const std::stop_token& stop) {
  return ShortestTrees(rows, resources).run(max_edges, stop);
}

}  // namespace forestcoll::solver
