#include "solver/height/whole/shortest.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "solver/height/whole/direct.hpp"

namespace forestcoll::solver {
namespace {

/// Some trees of one root reach a rank: the arcs that may reach it, and how many trees take each.
struct Choice {
  std::int64_t trees = 0;
  std::uint32_t first = 0, last = 0;  ///< its options, in a common list
};

/// An arc that may reach a rank, and the trees that take it.
struct Option {
  ArcId arc;
  std::uint32_t choice = 0;
  std::int64_t trees = 0;
  bool listed = false;  ///< among the users of its resource
};

struct Choices {
  std::vector<Choice> all;
  std::vector<Option> options;
  void clear() {
    all.clear();
    options.clear();
  }
};

// Spreads the trees of each choice over its options within the resources, by augmenting paths.
class Spreading {
 public:
  Spreading(const Resources& resources, std::vector<Capacity>& left)
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
      return options_of(choices.all[a]) < options_of(choices.all[b]);
    });
    const bool done = std::all_of(order_.begin(), order_.end(), [&](std::size_t c) {
      std::int64_t trees = take_freely(c);
      while (trees > 0) {
        const std::int64_t more = augment(c, trees);
        if (more == 0) return false;
        trees -= more;
      }
      return true;
    });
    for (const Option& option : choices.options) users_[resource(option)].clear();
    return done;
  }

 private:
  /// How a search came to a resource: trees move to the option `to` from the option `from`, or are
  /// new where that is none.
  struct Move {
    std::size_t to = 0, from = kNone;
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  static std::size_t options_of(const Choice& choice) { return choice.last - choice.first; }
  [[nodiscard]] std::size_t resource(const Option& option) const {
    return resources_.of[option.arc].index();
  }

  void add(std::size_t at, std::int64_t trees) {
    Option& option = choices_->options[at];
    option.trees += trees;
    left_[resource(option)] -= trees;
    if (option.trees == 0 || option.listed) return;
    option.listed = true;
    users_[resource(option)].push_back(at);
  }

  // As many as there is room for, over few options; returns how many are left.
  std::int64_t take_freely(std::size_t c) {
    const Choice& choice = choices_->all[c];
    std::int64_t trees = choice.trees;
    while (trees > 0) {
      std::size_t best = kNone;
      Capacity most = 0;
      for (std::size_t i = choice.first; i < choice.last; ++i) {
        const Capacity left = left_[resource(choices_->options[i])];
        if (left <= most) continue;
        most = left;
        best = i;
      }
      if (best == kNone) break;
      add(best, std::min(trees, most));
      trees -= std::min(trees, most);
    }
    return trees;
  }

  // Breadth first over resources: a full one leads to the other options of its users. Returns how
  // many more of the choice's trees have an option then.
  std::int64_t augment(std::size_t c, std::int64_t trees) {
    ++search_;
    queue_.clear();
    const Choice& choice = choices_->all[c];
    for (std::size_t i = choice.first; i < choice.last; ++i) visit({i, kNone});
    for (std::size_t q = 0; q < queue_.size(); ++q) {
      const std::size_t full = queue_[q];
      auto& users = users_[full];
      for (std::size_t i = 0; i < users.size();) {
        const std::size_t user = users[i];
        Option& option = choices_->options[user];
        if (option.trees == 0) {
          option.listed = false;
          users[i] = users.back();
          users.pop_back();
          continue;
        }
        ++i;
        const Choice& other = choices_->all[option.choice];
        for (std::size_t o = other.first; o < other.last; ++o) {
          if (!visit({o, user})) continue;
          const std::size_t r = resource(choices_->options[o]);
          if (left_[r] > 0) return shift(r, std::min<std::int64_t>(trees, left_[r]));
        }
      }
    }
    return 0;
  }

  bool visit(const Move& move) {
    const std::size_t r = resource(choices_->options[move.to]);
    if (seen_[r] == search_) return false;
    seen_[r] = search_;
    came_from_[r] = move;
    queue_.push_back(r);
    return true;
  }

  // Along the path back from resource `r` as many as can move on by one.
  std::int64_t shift(std::size_t r, std::int64_t trees) {
    const auto for_each_move = [&](auto&& visit) {
      for (Move move = came_from_[r];; move = came_from_[resource(choices_->options[move.from])]) {
        visit(move);
        if (move.from == kNone) return;
      }
    };
    for_each_move([&](const Move& move) {
      if (move.from != kNone) trees = std::min(trees, choices_->options[move.from].trees);
    });
    for_each_move([&](const Move& move) {
      add(move.to, trees);
      if (move.from != kNone) add(move.from, -trees);
    });
    return trees;
  }

  const Resources& resources_;
  std::vector<Capacity>& left_;
  Choices* choices_ = nullptr;
  std::vector<std::vector<std::size_t>> users_;  ///< options, by resource; may hold unused ones
  std::vector<Move> came_from_;
  std::vector<std::int64_t> seen_;
  std::int64_t search_ = 0;
  std::vector<std::size_t> order_, queue_;
};

class ShortestTrees {
 public:
  ShortestTrees(const TreeRows& rows, Resources& resources)
      : rows_(rows), resources_(resources), ranks_(rows.core.compute.size()) {}

  bool run(std::size_t max_edges, const std::stop_token& stop) {
    if (!is_direct(rows_.core, resources_)) return false;
    roots_ = rows_.trees;
    if (roots_.size() > max_edges / ranks_) return false;
    std::vector<Capacity> left(resources_.residual.begin(), resources_.residual.end());
    if (!spread(left, stop)) return false;
    return write(max_edges, left);
  }

 private:
  // Where every arc is its own resource, ranks choose independently of one another.
  bool spread(std::vector<Capacity>& left, const std::stop_token& stop) {
    measure();
    const bool unshared = is_unshared(resources_);
    Spreading spreading(resources_, left);
    for (std::size_t v = 0; v < ranks_; ++v) {
      if (stop.stop_requested()) return false;
      add_choices(Rank(v));
      if (!unshared && v + 1 < ranks_) continue;
      if (!spreading.run(choices_)) return false;
      for (const Choice& choice : choices_.all) keep_parts(choice);
      choices_.clear();
    }
    first_part_.push_back(parts_.size());
    return true;
  }

  // How the trees of each root may reach the rank: over arcs that come from one hop less far.
  void add_choices(Rank v) {
    const Core& core = rows_.core;
    for (const Forest::Tree& tree : roots_) {
      const auto& distance = distance_[tree.root];
      Choice choice{tree.root == v ? 0 : tree.multiplicity,
                    static_cast<std::uint32_t>(choices_.options.size()), 0};
      for (const ArcId arc : core.graph.in(core.compute[v.index()])) {
        const Rank from = core.rank_of[core.graph.tail(arc)];
        if (distance[from.index()] + 1 == distance[v.index()]) {
          choices_.options.push_back({arc, static_cast<std::uint32_t>(choices_.all.size()), 0});
        }
      }
      choice.last = static_cast<std::uint32_t>(choices_.options.size());
      choices_.all.push_back(choice);
    }
  }

  // The largest first, so that those of different ranks cover the same trees.
  void keep_parts(const Choice& choice) {
    first_part_.push_back(parts_.size());
    for (std::size_t i = choice.first; i < choice.last; ++i) {
      const Option& option = choices_.options[i];
      if (option.trees > 0) parts_.push_back({option.arc, option.trees});
    }
    std::stable_sort(parts_.begin() + static_cast<std::ptrdiff_t>(first_part_.back()), parts_.end(),
                     [](const Part& a, const Part& b) { return a.trees > b.trees; });
  }

  void measure() {
    const Core& core = rows_.core;
    distance_.assign(ranks_, {});
    for (Forest::Tree& tree : roots_) {
      auto& distance = distance_[tree.root];
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
      tree.height = *std::max_element(distance.begin(), distance.end());
    }
  }

  // Ranks choose independently, so that the parts of all of them lie side by side: a tree for each
  // stretch in which none of them changes. False where that makes too many.
  bool write(std::size_t max_edges, const std::vector<Capacity>& left) {
    std::vector<Forest::Tree> trees;
    std::vector<Route> routes;
    std::vector<std::size_t> part(ranks_);
    std::vector<std::int64_t> rest(ranks_);
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      for (std::size_t v = 0; v < ranks_; ++v) {
        part[v] = first_part_[v * roots_.size() + i];
        rest[v] = Rank(v) == roots_[i].root ? roots_[i].multiplicity : parts_[part[v]].trees;
      }
      for (std::int64_t owed = roots_[i].multiplicity; owed > 0;) {
        const std::int64_t stretch = *std::min_element(rest.begin(), rest.end());
        if (routes.size() + ranks_ > max_edges) return false;
        trees.push_back({roots_[i].root, stretch, roots_[i].height});
        owed -= stretch;
        for (std::size_t v = 0; v < ranks_; ++v) {
          routes.push_back(Rank(v) == roots_[i].root ? Route{} : route_over(parts_[part[v]].arc));
          rest[v] -= stretch;
          if (rest[v] == 0 && owed > 0) rest[v] = parts_[++part[v]].trees;
        }
      }
    }
    rows_.trees = std::move(trees);
    rows_.routes = std::move(routes);
    for (std::size_t r = 0; r < left.size(); ++r) resources_.residual[ArcId(r)] = left[r];
    return true;
  }

  [[nodiscard]] Route route_over(ArcId arc) const {
    return {PrefixId(rows_.core.rank_of[rows_.core.graph.tail(arc)].value), SegmentId(arc.value)};
  }

  /// Trees that reach a rank over the arc.
  struct Part {
    ArcId arc;
    std::int64_t trees = 0;
  };

  const TreeRows& rows_;
  Resources& resources_;
  std::size_t ranks_;
  std::vector<Forest::Tree> roots_;                     ///< all trees of a root as one
  IdVector<Rank, std::vector<std::int32_t>> distance_;  ///< from the roots
  Choices choices_;
  std::vector<Part> parts_;
  std::vector<std::size_t> first_part_;  ///< by rank and then by root
  std::vector<Rank> queue_;
};

}  // namespace

bool pack_shortest(const TreeRows& rows, Resources& resources, std::size_t max_edges,
                   const std::stop_token& stop) {
  return ShortestTrees(rows, resources).run(max_edges, stop);
}

}  // namespace forestcoll::solver
