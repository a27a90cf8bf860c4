#include "solver/height.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "solver/height_flat.hpp"
#include "solver/height_groups.hpp"
#include "solver/height_moves.hpp"
#include "solver/height_rows.hpp"
#include "solver/height_shortest.hpp"

namespace forestcoll::solver {
namespace {

// Edges that are no matter for memory: 256 MB.
constexpr std::size_t kSmallForest = std::size_t{1} << 25;

// One edge in so many is exchanged at random before the next descent.
constexpr std::size_t kShakenShare = 32;

// Forests up to this size are worked on edge by edge; the index of that takes some 30 bytes for an
// edge.
std::size_t most_edges(Effort effort) {
  return std::size_t{1} << (effort == Effort::fast ? 21 : effort == Effort::normal ? 23 : 25);
}

// Splitting makes forests larger: up to four times, more where they are small.
std::size_t most_trees(const TreeRows& rows) {
  constexpr std::size_t small = std::size_t{1} << 18;
  return std::max(4 * rows.routes.size(), small) / rows.core.compute.size();
}

// A step is some nanoseconds; packing takes 50 to 150 for an edge. Small forests may take longer
// than that.
std::int64_t steps_for(Effort effort, std::int64_t edges) {
  switch (effort) {
    case Effort::fast:
      return 4 * edges + std::min<std::int64_t>(200 * edges, 500'000);
    case Effort::normal:
      return 16 * edges + std::min<std::int64_t>(16'000 * edges, 4'000'000);
    case Effort::max:
      return 256 * edges + std::min<std::int64_t>(8'000'000 * edges, 10'000'000'000);
  }
  return 0;
}

// This part of all steps without a node fewer at the greatest depth, and the search ends.
constexpr std::int64_t kPatience = 2;

class Lowering {
 public:
  Lowering(const TreeRows& rows, Resources& resources, std::int32_t bound, Effort effort,
           const std::stop_token& stop)
      : rows_(rows),
        groups_(wide_groups(rows.core)),
        moves_(rows_, resources, most_trees(rows)),
        bound_(bound),
        stop_(stop) {
    const auto edges = static_cast<std::int64_t>(rows.routes.size());
    budget_ = steps_for(effort, edges);
    if (effort == Effort::max) limits_ = {3, 24, 96, 1 << 14, 200'000};
  }

  void run() {
    descend(bound_ + 1);
    // Stuck: edges exchanged at random, no path being made as long as the longest, and again.
    auto best = tallest_nodes();
    for (std::int64_t since = moves_.steps(); tallest() > bound_ && !spent();) {
      shake();
      descend(tallest());
      if (const auto now = tallest_nodes(); now < best) {
        best = now;
        since = moves_.steps();
      }
      if (moves_.steps() - since > budget_ / kPatience) break;
    }
    rows_.join_equal_trees();
  }

 private:
  [[nodiscard]] bool spent() const { return moves_.steps() >= budget_ || stop_.stop_requested(); }

  // The tallest trees first, and all of one height before the next, down to height `last`: what
  // they take from lower trees is then settled when those have their turn.
  void descend(std::int32_t last) {
    for (std::int32_t height = tallest(); height >= last && !spent();) {
      bool progress = false;
      for (std::size_t t = 0; t < rows_.tree_count() && !spent(); ++t) {
        if (rows_.height(t) == height) progress |= lower(t, height);
      }
      // Where the tallest do not get lower, the others still may.
      height = progress ? std::min(tallest(), height) : height - 1;
    }
  }

  void shake() {
    const std::int32_t limit = tallest() - 1;
    const std::size_t edges = rows_.tree_count() * rows_.ranks();
    for (std::size_t i = 0; i < edges / kShakenShare + 4 && !spent(); ++i) {
      const std::size_t at = random_() % edges;
      const TreeEdge edge{at / rows_.ranks(), at % rows_.ranks()};
      if (rows_.route(edge).valid()) moves_.shake(edge, limit);
      if (groups_.empty()) continue;
      const std::vector<Rank>& group = groups_[random_() % groups_.size()];
      moves_.exchange_group(edge.tree, group, limit, true);
    }
  }

  // The greatest height, and how many nodes are that deep.
  [[nodiscard]] std::pair<std::int32_t, std::size_t> tallest_nodes() {
    const std::int32_t height = tallest();
    std::size_t count = 0;
    for (std::size_t t = 0; t < rows_.tree_count(); ++t) {
      if (rows_.height(t) == height) count += rows_.count_from(t, height);
    }
    return {height, count};
  }

  [[nodiscard]] std::int32_t tallest() {
    std::int32_t height = 0;
    for (std::size_t t = 0; t < rows_.tree_count(); ++t) height = std::max(height, rows_.height(t));
    return height;
  }

  // Moves nodes on the tree's longest paths until it is lower, or none can be moved any more.
  bool lower(std::size_t t, std::int32_t height) {
    bool any = false;
    while (rows_.height(t) == height && !spent()) {
      critical_.clear();
      for (std::size_t v = 0; v < rows_.ranks(); ++v) {
        const std::int32_t depth = rows_.depth({t, v});
        if (depth >= 2 && depth + rows_.below({t, v}) == height) critical_.push_back(v);
      }
      std::stable_sort(critical_.begin(), critical_.end(), [&](std::size_t a, std::size_t b) {
        return rows_.depth({t, a}) > rows_.depth({t, b});
      });
      const auto any_critical = [&](auto&& step) {
        return std::any_of(critical_.begin(), critical_.end(), [&](std::size_t v) {
          return !spent() && step(TreeEdge{t, v});
        });
      };
      const std::int32_t limit = height - 1;
      if (!any_critical([&](TreeEdge edge) { return moves_.exchange(edge, limit); }) &&
          !exchange_groups(t, limit) &&
          !any_critical([&](TreeEdge edge) { return moves_.move(edge, limit, limits_); })) {
        break;
      }
      any = true;
    }
    return any;
  }

  bool exchange_groups(std::size_t t, std::int32_t limit) {
    return std::any_of(groups_.begin(), groups_.end(), [&](const std::vector<Rank>& group) {
      return !spent() && moves_.exchange_group(t, group, limit, false);
    });
  }

  HeightRows rows_;
  std::vector<std::vector<Rank>> groups_;
  HeightMoves moves_;
  std::int32_t bound_;
  const std::stop_token& stop_;
  MoveLimits limits_;
  std::int64_t budget_ = 0;
  std::vector<std::size_t> critical_;
  std::mt19937_64 random_{0};  ///< the same on every machine
};

std::int32_t max_height(const TreeRows& rows) {
  std::int32_t height = 0;
  for (const Forest::Tree& tree : rows.trees) height = std::max(height, tree.height);
  return height;
}

}  // namespace

Resources plain_resources(const IdVector<ArcId, Capacity>& residual) {
  Resources resources;
  resources.residual = residual;
  resources.weight.assign(residual.size(), 1);
  for (std::size_t a = 0; a < residual.size(); ++a) resources.of.push_back(ArcId(a));
  return resources;
}

void lower_heights(const TreeRows& rows, Resources& resources, std::int32_t bound, Effort effort,
                   const std::stop_token& stop) {
  if (max_height(rows) <= bound) return;
  // Forests that can be had whole and cannot be beaten.
  if (bound == 1 && pack_flat(rows, resources, 1, stop)) return;
  if (bound <= 2 && max_height(rows) > 2 && pack_flat(rows, resources, 2, stop)) return;
  // Trees of multiplicity 1 may come to many times as many as there are.
  const std::size_t max_edges = std::max(kSmallForest, 3 * rows.routes.size());
  if (pack_shortest(rows, resources, max_edges, stop)) {
    HeightRows(rows).join_equal_trees();
    return;
  }
  if (rows.routes.size() > most_edges(effort)) return;
  Lowering(rows, resources, bound, effort, stop).run();
}

}  // namespace forestcoll::solver
