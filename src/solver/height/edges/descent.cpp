#include "solver/height/edges/descent.hpp"

#include <algorithm>
#include <vector>

#include "solver/height/common/groups.hpp"
#include "solver/height/edges/rows.hpp"

namespace forestcoll::solver {
namespace {

class Descent {
 public:
  Descent(const TreeRows& rows, Resources& resources, const DescentLimits& limits,
          const std::stop_token& stop)
      : rows_(rows),
        groups_(wide_groups(rows.core)),
        moves_(rows_, resources, limits.most_trees),
        limits_(limits),
        stop_(stop) {}

  // All of one height before the next: what they take from lower trees is then settled when those
  // have their turn.
  void run(std::int32_t bound) {
    for (std::int32_t height = tallest(); height > bound && !spent();) {
      bool progress = false;
      for (std::size_t t = 0; t < rows_.tree_count() && !spent(); ++t) {
        if (rows_.height(t) == height) progress |= lower(t, height);
      }
      // Where the tallest do not get lower, the others still may.
      height = progress ? std::min(tallest(), height) : height - 1;
    }
    rows_.join_equal_trees();
  }

 private:
  [[nodiscard]] bool spent() const {
    return moves_.steps() >= limits_.steps || stop_.stop_requested();
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
      find_critical(t, height);
      const auto any_critical = [&](auto&& step) {
        return std::any_of(critical_.begin(), critical_.end(), [&](std::size_t v) {
          return !spent() && step(TreeEdge{t, v});
        });
      };
      const std::int32_t limit = height - 1;
      if (!any_critical([&](TreeEdge edge) { return moves_.exchange(edge, limit); }) &&
          !exchange_groups(t, limit) &&
          !any_critical([&](TreeEdge edge) { return moves_.move(edge, limit, limits_.moves); })) {
        break;
      }
      any = true;
    }
    return any;
  }

  // The nodes on the longest paths, the deepest first.
  void find_critical(std::size_t t, std::int32_t height) {
    critical_.clear();
    for (std::size_t v = 0; v < rows_.ranks(); ++v) {
      const std::int32_t depth = rows_.depth({t, v});
      if (depth >= 2 && depth + rows_.below({t, v}) == height) critical_.push_back(v);
    }
    std::stable_sort(critical_.begin(), critical_.end(), [&](std::size_t a, std::size_t b) {
      return rows_.depth({t, a}) > rows_.depth({t, b});
    });
  }

  bool exchange_groups(std::size_t t, std::int32_t limit) {
    return std::any_of(groups_.begin(), groups_.end(), [&](const std::vector<Rank>& group) {
      return !spent() && moves_.exchange_group(t, group, limit);
    });
  }

  HeightRows rows_;
  std::vector<std::vector<Rank>> groups_;
  HeightMoves moves_;
  const DescentLimits& limits_;
  const std::stop_token& stop_;
  std::vector<std::size_t> critical_;
};

}  // namespace

void descend_heights(const TreeRows& rows, Resources& resources, std::int32_t bound,
                     const DescentLimits& limits, const std::stop_token& stop) {
  Descent(rows, resources, limits, stop).run(bound);
}

}  // namespace forestcoll::solver
