// The search over scales for low forests.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "solver/pack/search/known_forests.hpp"

namespace forestcoll::solver {

/// What a forest has to beat: those known of at most that height, and U per tree that it may need
/// at most, in the network's units.
struct Rivals {
  std::int32_t height = 0;
  std::optional<Ratio> most_scale = {};
};

/// The search for one k, height (`options.enough_height`) and effort. What it finds goes to
/// `known`; it is for forests that beat `rivals` there. Errors: those of
/// `pack`; E14 where trees are too high at the largest scale.
class ScaleSearch {
 public:
  ScaleSearch(const Network& network, const Weights& weights, const Scaling& scaling,
              const PackOptions& options, const Rivals& rivals, KnownForests& known)
      : network_(network),
        weights_(weights),
        scaling_(scaling),
        options_(options),
        rivals_(rivals),
        known_(known) {}

  /// Cost: some calls of `pack`; one, where there are rivals and nothing beats them.
  Expected<void> run();
  /// Only where next to nothing of the rate is lost, from `first` (0 or 1) steps above the scale
  /// asked for: at most two calls of `pack`.
  Expected<void> run_at_first_steps(std::int64_t first);
  /// Only at the most capacity that could still win: one call of `pack`. REQUIRES: rivals.
  Expected<void> run_at_most();
  /// Above the scale asked for, of those that may win; less than none where none may.
  [[nodiscard]] std::int64_t most_steps() const;

 private:
  Expected<void> search_upwards();
  Expected<void> search_below_rivals();
  Expected<void> search_between(std::int64_t fails, std::int64_t works);
  [[nodiscard]] const Packing* rival() const { return known_.best_within(rivals_.height); }
  [[nodiscard]] bool has_rivals() const { return rivals_.most_scale || rival() != nullptr; }
  [[nodiscard]] std::optional<Ratio> scale_at(std::int64_t steps) const;
  [[nodiscard]] bool may_win(std::int64_t steps) const;
  Expected<bool> is_enough(std::int64_t steps);
  [[nodiscard]] bool fits(const Ratio& scale) const;

  const Network& network_;
  const Weights& weights_;
  const Scaling& scaling_;
  const PackOptions& options_;
  const Rivals rivals_;
  KnownForests& known_;
  IdVector<ArcId, Capacity> too_tight_;  ///< the widest that left trees too high
};

}  // namespace forestcoll::solver
