// In which order contenders are simulated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "fastest/contest.hpp"

namespace forestcoll::fastest {

/// Contenders by their bounds, the lowest first: those of a candidate that is not made come up with
/// what links need of it, each of them again with a line, and again with its higher bound, before
/// it is simulated. What was made for another size changes nothing.
class ContestQueue {
 public:
  /// Tried side by side.
  static constexpr std::size_t kAtOnce = 4;

  /// Of those that `takes` says, and `of`; of no variants, or of those of these contenders alone.
  ContestQueue(Contest& contest, std::int64_t bytes, const Contest::Takes& takes, Contest::Of of,
               const std::set<std::size_t>& variants_of = {})
      : contest_(contest), bytes_(bytes), takes_(takes), of_(of) {
    const std::vector<Contender>& contenders = contest.contenders();
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      const auto base = contest.variant_of(c);
      const bool is_asked = base ? variants_of.contains(*base) : variants_of.empty();
      if (!is_asked || !takes(c)) continue;
      const std::size_t candidate = contenders[c].candidate;
      if (unmade_.empty() || unmade_.back().candidate != candidate) {
        unmade_.push_back({contest.least_of_links(candidate, bytes), candidate, {}});
      }
      unmade_.back().contenders.push_back(c);
    }
    std::ranges::stable_sort(unmade_, std::greater(), &Unmade::seconds);
  }

  struct Bound {
    double seconds = 0;
    std::size_t contender = 0;
    bool is_line = false;
    bool operator>(const Bound& other) const {
      return std::tie(seconds, contender) > std::tie(other.seconds, other.contender);
    }
  };

  /// The lowest bound of all; none where none are left.
  std::optional<Bound> lowest() {
    if (!has_exact_bound(std::numeric_limits<double>::infinity())) return std::nullopt;
    return bounds_.top();
  }

  /// Of those whose bounds are near the lowest, and no more than `most`, up to `count` that are
  /// simulated soonest: what they take rules others out, or ends their simulations early.
  std::vector<std::size_t> next(std::size_t count, double most) {
    if (!has_exact_bound(most)) return {};
    std::vector<Bound> nearest;
    const double last = std::min(most, kNear * bounds_.top().seconds);
    while (has_exact_bound(last)) {
      nearest.push_back(bounds_.top());
      bounds_.pop();
    }
    std::ranges::stable_sort(nearest, {}, [this](const Bound& bound) {
      return std::pair(contest_.simulation_cost(bound.contender, bytes_),
                       contest_.passes(bound.contender, bytes_));
    });
    std::vector<std::size_t> found;
    for (const Bound& bound : nearest) {
      if (found.size() < count) {
        found.push_back(bound.contender);
      } else {
        bounds_.push(bound);
      }
    }
    return found;
  }

  /// All that are left; of a candidate that was not looked at, one of its contenders.
  std::vector<Bound> rest() {
    std::vector<Bound> all;
    for (; !bounds_.empty(); bounds_.pop()) all.push_back(bounds_.top());
    for (const Unmade& each : unmade_) all.push_back({each.seconds, each.contenders.front(), true});
    return all;
  }

 private:
  static constexpr double kNear = 1.05;  // times the lowest bound

  // A candidate that has not been looked at, made or not.
  struct Unmade {
    double seconds = 0;  // at least
    std::size_t candidate = 0;
    std::vector<std::size_t> contenders;
  };

  // Whether a bound is left that is no more than `most`: the lowest is then at the top. Makes what
  // may have a lower one, together with what is near it, as those are made side by side.
  bool has_bound(double most) {
    for (;;) {
      const bool is_empty = bounds_.empty();
      const double least = is_empty ? most : std::min(most, bounds_.top().seconds);
      if (unmade_.empty() || unmade_.back().seconds > least) {
        return !is_empty && bounds_.top().seconds <= most;
      }
      make_up_to(std::min(most, Contest::kNearTheBest * unmade_.back().seconds));
    }
  }

  // The same, and the bound is the higher one.
  bool has_exact_bound(double most) {
    while (has_bound(most)) {
      if (!bounds_.top().is_line) return true;
      const Bound line = bounds_.top();
      bounds_.pop();
      push_higher(line);
    }
    return false;
  }

  void make_up_to(double most) {
    std::vector<Unmade> made;
    std::vector<std::size_t> candidates;
    for (; !unmade_.empty() && unmade_.back().seconds <= most; unmade_.pop_back()) {
      candidates.push_back(unmade_.back().candidate);
      made.push_back(std::move(unmade_.back()));
    }
    contest_.make(candidates);
    for (const Unmade& each : made) {
      for (const std::size_t c : each.contenders) push_line(c);
    }
  }

  void push_line(std::size_t contender) {
    if (!contest_.is_there(contender) || !is_one(contender)) return;
    const std::size_t same = contest_.representative(contender, bytes_);
    if (same != contender && takes_(same)) return;
    bounds_.push({contest_.quick_bound(contender, bytes_), contender, true});
  }

  void push_higher(const Bound& line) {
    const double least = contest_.least_seconds(line.contender, bytes_);
    bounds_.push({std::max(line.seconds, least), line.contender, false});
  }

  [[nodiscard]] bool is_one(std::size_t contender) const {
    switch (of_) {
      case Contest::Of::files:
        return contest_.serves(contender, bytes_) && contest_.fits(contender);
      case Contest::Of::files_around:
        return contest_.serves_around(contender, bytes_) && contest_.fits(contender);
      case Contest::Of::programs:
        return contest_.serves(contender, bytes_) &&
               (contest_.fits(contender) || has_runtime_own(contest_.candidate(contender)));
      case Contest::Of::all:
        break;
    }
    return true;
  }

  Contest& contest_;
  std::int64_t bytes_;
  const Contest::Takes& takes_;
  Contest::Of of_;
  std::vector<Unmade> unmade_;  // the lowest last
  std::priority_queue<Bound, std::vector<Bound>, std::greater<>> bounds_;
};

}  // namespace forestcoll::fastest
