// In which order contenders are simulated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "fastest/contest.hpp"

namespace forestcoll::fastest {

/// Contenders by their bounds, the lowest first; each comes up again with its higher bound, before
/// it is simulated.
class ContestQueue {
 public:
  /// Of those that `takes` says, and `of`; `first` comes first, whatever its bound.
  ContestQueue(Contest& contest, std::int64_t bytes, const Contest::Takes& takes, Contest::Of of,
               std::optional<std::size_t> first = {})
      : contest_(contest), bytes_(bytes) {
    for (std::size_t c = 0; c < contest.contenders().size(); ++c) {
      if (!is_one(c, of) || !takes(c)) continue;
      const std::size_t same = contest.representative(c, bytes);
      if (same != c && takes(same)) continue;
      const bool is_first = first == c;
      bounds_.push({is_first ? 0 : contest.quick_bound(c, bytes), c, !is_first});
    }
  }

  struct Bound {
    double seconds = 0;
    std::size_t contender = 0;
    bool is_line = false;
    bool operator>(const Bound& other) const {
      return std::tie(seconds, contender) > std::tie(other.seconds, other.contender);
    }
  };

  /// Of those whose bounds are near the lowest, the one that is simulated soonest: what it takes
  /// rules others out, or ends their simulations early. None where none are left.
  std::vector<std::size_t> first() {
    std::vector<Bound> near = near_the_lowest();
    if (near.empty()) return {};
    const auto soonest = std::ranges::min_element(near, {}, [this](const Bound& bound) {
      return contest_.simulation_cost(bound.contender, bytes_);
    });
    const std::size_t found = soonest->contender;
    near.erase(soonest);
    for (const Bound& other : near) bounds_.push(other);
    return {found};
  }

  /// Up to `count` of those that may take no more than `most`.
  std::vector<std::size_t> next(std::size_t count, double most) {
    std::vector<std::size_t> found;
    while (found.size() < count && !bounds_.empty() && bounds_.top().seconds <= most) {
      const Bound bound = bounds_.top();
      bounds_.pop();
      if (bound.is_line) {
        push_higher(bound);
      } else {
        found.push_back(bound.contender);
      }
    }
    return found;
  }

  /// All that are left.
  std::vector<Bound> rest() {
    std::vector<Bound> all;
    for (; !bounds_.empty(); bounds_.pop()) all.push_back(bounds_.top());
    return all;
  }

 private:
  static constexpr double kNear = 1.25;  // so many times the lowest bound is near it

  std::vector<Bound> near_the_lowest() {
    double most = std::numeric_limits<double>::infinity();
    std::vector<Bound> near;
    while (!bounds_.empty() && bounds_.top().seconds <= most) {
      const Bound bound = bounds_.top();
      bounds_.pop();
      if (bound.is_line) {
        push_higher(bound);
      } else {
        if (near.empty()) most = kNear * bound.seconds;
        near.push_back(bound);
      }
    }
    return near;
  }

  void push_higher(const Bound& line) {
    const double least = contest_.least_seconds(line.contender, bytes_);
    bounds_.push({std::max(line.seconds, least), line.contender, false});
  }

  [[nodiscard]] bool is_one(std::size_t contender, Contest::Of of) const {
    if (of == Contest::Of::files) return contest_.serves(contender, bytes_);
    return of == Contest::Of::all || contest_.serves_around(contender, bytes_);
  }

  Contest& contest_;
  std::int64_t bytes_;
  std::priority_queue<Bound, std::vector<Bound>, std::greater<>> bounds_;
};

}  // namespace forestcoll::fastest
