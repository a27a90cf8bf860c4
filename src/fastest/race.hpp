// Contenders against each other at one size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "fastest/contest.hpp"

namespace forestcoll::fastest {

class ContestQueue;

/// Finds the fastest without simulating all: few passes tell of contenders, in the order of their
/// bounds, about what they take; those that are then the fastest are told of by ever more passes
/// and at last simulated, until neither what is told of the next one nor a bound is below the best
/// time found.
class Race {
 public:
  /// REQUIRES: `contest` outlives it.
  Race(Contest& contest, std::int64_t bytes, const Contest::Limits& limits)
      : contest_(contest), bytes_(bytes), limits_(limits) {}

  /// Those of the queue against each other, and against the best so far.
  void run(ContestQueue& queue);
  /// What took the least so far.
  [[nodiscard]] const std::optional<Winner>& best() const { return best_; }
  /// Contenders whose variants are worth a race of their own: of candidates near the best, as many
  /// as there is a budget for, the fastest first. REQUIRES: there is a best one.
  [[nodiscard]] std::set<std::size_t> with_variants() const;
  /// The best, if it takes no more than it may, with all that was compared; nothing is left of the
  /// race.
  [[nodiscard]] std::optional<Winner> finish();

 private:
  // What so many passes told of a contender, ordered by what that comes to at the least.
  struct Estimate {
    double least = 0;  // seconds
    std::size_t contender = 0;
    double passes = 0;  // 0: not tried yet
    double seconds = 0;
    bool operator<(const Estimate& other) const {
      return std::tie(least, contender) < std::tie(other.least, other.contender);
    }
  };
  // Below what one must be to be tried, and so many at a time.
  struct Goal {
    double seconds = 0;
    std::size_t at_once = 1;
  };

  [[nodiscard]] Goal goal() const;
  [[nodiscard]] std::vector<Estimate> take_first(std::size_t at_once);
  void try_out(const std::vector<Estimate>& tried, double goal);
  [[nodiscard]] double next_passes(std::size_t contender, double before) const;
  [[nodiscard]] bool is_promising(const Estimate& estimate) const;
  void note(std::size_t contender, double seconds, double most);
  void note_estimate(const Estimate& estimate);
  void note_rest(ContestQueue& queue);
  [[nodiscard]] double most_of_variants(std::size_t contender) const;
  [[nodiscard]] double to_beat() const;  // seconds

  Contest& contest_;
  std::int64_t bytes_;
  Contest::Limits limits_;
  std::set<Estimate> estimates_;
  std::optional<Winner> best_;
  std::vector<ConsideredTime> considered_;
  std::map<std::size_t, double> by_contender_;  // about what each takes, or at least
};

}  // namespace forestcoll::fastest
