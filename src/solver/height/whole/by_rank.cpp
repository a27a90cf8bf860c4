#include "solver/height/whole/by_rank.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "forest/depths.hpp"
#include "forest/route_table.hpp"
#include "solver/common/join_trees.hpp"
#include "solver/height/whole/direct.hpp"

namespace forestcoll::solver {
namespace {

// Depths take two bytes.
constexpr std::size_t kMostRanks = std::numeric_limits<std::int16_t>::max();

// Rounds over the ranks that are not settled yet, before trees may be higher.
constexpr int kRounds = 4;

class ByRank {
 public:
  ByRank(const TreeRows& rows, Resources& resources, std::size_t max_edges, Budget& budget)
      : rows_(rows),
        core_(rows.core),
        resources_(resources),
        ranks_(core_.compute.size()),
        most_trees_(max_edges / ranks_),
        budget_(budget),
        load_(core_.graph.arc_count(), 0) {}

  bool run(HeightRange heights) {
    if (!is_direct(core_, resources_) || !is_unshared(resources_) || ranks_ > kMostRanks) {
      return false;
    }
    trees_ = rows_.trees;
    if (trees_.size() > most_trees_) return false;
    into_.resize(trees_.size() * ranks_);
    depth_.resize(into_.size());
    below_.resize(into_.size());
    for (std::size_t t = 0; t < trees_.size(); ++t) grow_breadth_first(t);
    for (std::size_t t = 0; t < trees_.size(); ++t) measure(t);
    pending_.clear();
    for (std::size_t v = 0; v < ranks_; ++v) pending_.emplace_back(v);
    for (limit_ = heights.least; limit_ <= heights.most; ++limit_) {
      for (int round = 0; round < kRounds; ++round) {
        if (!settle_pending()) return false;
        if (pending_.empty()) {
          write();
          return true;
        }
        for (std::size_t t = 0; t < trees_.size(); ++t) measure(t);
      }
    }
    return false;
  }

 private:
  /// How a search came to an arc: a tree moves to it from another one.
  struct Move {
    std::size_t tree = 0;
    std::size_t from = 0;  ///< among the arcs into the rank
  };

  [[nodiscard]] std::size_t tail(ArcId arc) const {
    return core_.rank_of[core_.graph.tail(arc)].index();
  }
  [[nodiscard]] std::size_t parent(std::size_t t, std::size_t v) const {
    return tail(into_[t * ranks_ + v]);
  }

  // Every rank at its distance, over the arc that has the least to carry for its capacity.
  void grow_breadth_first(std::size_t t) {
    const std::span<std::int16_t> depth = row(depth_, t);
    const std::span<ArcId> into = row(into_, t);
    std::fill(depth.begin(), depth.end(), std::int16_t{-1});
    std::fill(into.begin(), into.end(), ArcId());
    depth[trees_[t].root.index()] = 0;
    queue_.assign(1, trees_[t].root.index());
    for (std::size_t q = 0; q < queue_.size(); ++q) {
      const NodeId node = core_.compute[queue_[q]];
      for (ArcId a = core_.graph.first_out(node); a != core_.graph.last_out(node); ++a.value) {
        const std::size_t to = core_.rank_of[core_.graph.head(a)].index();
        if (depth[to] < 0) {
          depth[to] = static_cast<std::int16_t>(depth[queue_[q]] + 1);
          queue_.push_back(to);
        }
        if (depth[to] == depth[queue_[q]] + 1 && (!into[to].valid() || is_less_full(a, into[to])))
          into[to] = a;
      }
    }
    for (const ArcId arc : into) {
      if (arc.valid()) load_[arc] += trees_[t].multiplicity;
    }
    budget_.spend(static_cast<std::int64_t>(core_.graph.arc_count() + ranks_));
  }

  [[nodiscard]] bool is_less_full(ArcId a, ArcId b) const {
    return Int128{load_[a]} * resources_.residual[b] < Int128{load_[b]} * resources_.residual[a];
  }

  template <class T>
  [[nodiscard]] std::span<T> row(std::vector<T>& rows, std::size_t t) const {
    return std::span(rows).subspan(t * ranks_, ranks_);
  }

  // Depths, and the depths below every rank.
  void measure(std::size_t t) {
    const std::span<std::int16_t> depth = row(depth_, t), below = row(below_, t);
    const std::size_t root = trees_[t].root.index();
    const auto up = [&](std::size_t v) { return parent(t, v); };
    trees_[t].height = *fill_depths(depth, root, up);
    fill_below(below, root, up);
    budget_.spend(static_cast<std::int64_t>(ranks_));
  }

  // One round; false where there is no going on.
  bool settle_pending() {
    std::vector<Rank> failed;
    for (const Rank v : pending_) {
      if (budget_.is_over()) return false;
      const Outcome outcome = settle(v);
      if (outcome == Outcome::too_many_trees) return false;
      if (outcome == Outcome::stuck) failed.push_back(v);
    }
    pending_ = std::move(failed);
    return true;
  }

  enum class Outcome { settled, stuck, too_many_trees };

  Outcome settle(Rank v) {
    v_ = v.index();
    const auto in = core_.graph.in(core_.compute[v_]);
    arcs_.assign(in.begin(), in.end());
    const auto is_overfull = [&](ArcId arc) { return load_[arc] > resources_.residual[arc]; };
    if (std::none_of(arcs_.begin(), arcs_.end(), is_overfull)) return Outcome::settled;
    gather_users();
    for (std::size_t i = 0; i < arcs_.size(); ++i) {
      while (is_overfull(arcs_[i])) {
        const auto end = find_room(i);
        if (!end) return Outcome::stuck;
        if (!shift(i, *end)) return Outcome::too_many_trees;
      }
    }
    return Outcome::settled;
  }

  void gather_users() {
    users_.assign(arcs_.size(), {});
    place_.resize(core_.graph.arc_count());
    for (std::size_t i = 0; i < arcs_.size(); ++i) place_[arcs_[i]] = i;
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      const ArcId arc = into_[t * ranks_ + v_];
      if (arc.valid()) users_[place_[arc]].push_back(t);
    }
    budget_.spend(static_cast<std::int64_t>(trees_.size()));
  }

  // Breadth first over the arcs into the rank, from an overfull one to one with room.
  std::optional<std::size_t> find_room(std::size_t start) {
    came_from_.assign(arcs_.size(), Move{});
    seen_.assign(arcs_.size(), 0);
    seen_[start] = 1;
    queue_.assign(1, start);
    for (std::size_t q = 0; q < queue_.size() && queue_.size() < arcs_.size(); ++q) {
      const std::size_t at = queue_[q];
      auto& users = users_[at];
      for (std::size_t i = 0; i < users.size() && queue_.size() < arcs_.size();) {
        const std::size_t t = users[i];
        if (into_[t * ranks_ + v_] != arcs_[at]) {
          users[i] = users.back();  // moved elsewhere since
          users.pop_back();
          continue;
        }
        ++i;
        for (std::size_t j = 0; j < arcs_.size(); ++j) {
          if (seen_[j] != 0 || !may_take(t, arcs_[j])) continue;
          seen_[j] = 1;
          came_from_[j] = {t, at};
          if (load_[arcs_[j]] < resources_.residual[arcs_[j]]) return j;
          queue_.push_back(j);
        }
      }
    }
    return std::nullopt;
  }

  // Would the tree stay one, and low enough?
  [[nodiscard]] bool may_take(std::size_t t, ArcId arc) {
    const std::int16_t* const depth = depth_.data() + t * ranks_;
    std::size_t u = tail(arc);
    budget_.spend(1);
    if (depth[u] + 1 + below_[t * ranks_ + v_] > limit_ || u == v_) return false;
    while (depth[u] > depth[v_]) {
      u = parent(t, u);
      budget_.spend(1);
    }
    return u != v_;
  }

  // Moves as much as possible along the way that the search found.
  bool shift(std::size_t start, std::size_t end) {
    std::int64_t amount = std::min(load_[arcs_[start]] - resources_.residual[arcs_[start]],
                                   resources_.residual[arcs_[end]] - load_[arcs_[end]]);
    for (std::size_t at = end; at != start; at = came_from_[at].from) {
      amount = std::min(amount, trees_[came_from_[at].tree].multiplicity);
    }
    for (std::size_t at = end; at != start; at = came_from_[at].from) {
      std::size_t t = came_from_[at].tree;
      if (trees_[t].multiplicity > amount) {
        if (trees_.size() == most_trees_) return false;
        t = split(t, amount);
      }
      load_[arcs_[came_from_[at].from]] -= amount;
      load_[arcs_[at]] += amount;
      reparent(t, arcs_[at]);
      users_[at].push_back(t);
    }
    return true;
  }

  std::size_t split(std::size_t t, std::int64_t amount) {
    const std::size_t copy = trees_.size();
    trees_.push_back(trees_[t]);
    trees_[copy].multiplicity = amount;
    trees_[t].multiplicity -= amount;
    const auto copy_row = [&](auto& rows) {
      rows.resize(rows.size() + ranks_);
      std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(t * ranks_), ranks_,
                  rows.end() - static_cast<std::ptrdiff_t>(ranks_));
    };
    copy_row(into_);
    copy_row(depth_);
    copy_row(below_);
    budget_.spend(static_cast<std::int64_t>(ranks_));
    return copy;
  }

  // What is below the previous parent may be less from now on than what is noted: until it is
  // measured again the tree is taken to be higher than it is.
  void reparent(std::size_t t, ArcId arc) {
    into_[t * ranks_ + v_] = arc;
    if (below_[t * ranks_ + v_] > 0) {
      measure(t);
      return;
    }
    const std::span<std::int16_t> depth = row(depth_, t), below = row(below_, t);
    std::size_t u = tail(arc);
    depth[v_] = static_cast<std::int16_t>(depth[u] + 1);
    const std::size_t root = trees_[t].root.index();
    for (std::int16_t down = 1; below[u] < down; ++down, u = parent(t, u)) {
      below[u] = down;
      if (u == root) break;
    }
  }

  void write() {
    rows_.trees.clear();
    rows_.routes.reserve(into_.size());
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      measure(t);
      rows_.trees.push_back(trees_[t]);
      for (const ArcId arc : row(into_, t)) {
        rows_.routes.push_back(arc.valid() ? Route{PrefixId(tail(arc)), SegmentId(arc.value)}
                                           : Route{});
      }
    }
    join_equal_trees(rows_.trees, rows_.routes, ranks_);
    for (std::size_t a = 0; a < load_.size(); ++a) resources_.residual[ArcId(a)] -= load_[ArcId(a)];
  }

  const TreeRows& rows_;
  const Core& core_;
  Resources& resources_;
  std::size_t ranks_;
  std::size_t most_trees_;
  Budget& budget_;
  std::int32_t limit_ = 0;
  std::vector<Forest::Tree> trees_;
  // By tree and rank: the arc into it, its depth, and how deep it is below (or less deep).
  std::vector<ArcId> into_;
  std::vector<std::int16_t> depth_, below_;
  IdVector<ArcId, std::int64_t> load_;
  std::vector<Rank> pending_;  ///< ranks with overfull arcs
  // Of the rank at hand:
  std::size_t v_ = 0;
  std::vector<ArcId> arcs_;
  IdVector<ArcId, std::size_t> place_;           ///< of an arc among these
  std::vector<std::vector<std::size_t>> users_;  ///< trees; some may have moved since
  std::vector<Move> came_from_;
  std::vector<char> seen_;
  std::vector<std::size_t> queue_;
};

}  // namespace

bool pack_by_rank(const TreeRows& rows, Resources& resources, HeightRange heights,
                  std::size_t max_edges, Budget& budget) {
  return ByRank(rows, resources, max_edges, budget).run(heights);
}

}  // namespace forestcoll::solver
