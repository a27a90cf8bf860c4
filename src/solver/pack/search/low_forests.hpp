// All searches for low forests on one fabric.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/pack/search/known_forests.hpp"
#include "solver/pack/search/scale_search.hpp"

namespace forestcoll::solver {

/// What searches in turn may cost until one of them finds something better.
class Patience {
 public:
  /// `edges`: of all trees where each root has one.
  Patience(Effort effort, std::int64_t edges);

  /// After a search for k trees per root.
  void spend(std::int64_t k, bool has_found_better);
  [[nodiscard]] bool is_over() const { return left_ <= 0; }

 private:
  const Effort effort_;
  const std::int64_t edges_;
  std::int64_t left_;
};

/// Searches for forests of one of several numbers of trees per root. With few ranks for every
/// number and effort, as long as patience lasts; otherwise for those that may beat what is known.
class LowForests {
 public:
  LowForests(const Network& network, const Weights& weights, const Scaling& scaling,
             const PackOptions& options, const OtherNumbers& others);

  /// No forest is lower.
  [[nodiscard]] std::int32_t least() const { return least_; }
  [[nodiscard]] KnownForests& known() { return known_; }
  [[nodiscard]] bool is_small() const { return network_.ranks.size() <= kFewRanks; }
  /// Does it need no more than forests that are worth anything may?
  [[nodiscard]] bool is_within_scale(const Scaling& scaling) const;
  /// Is none faster within that height, or worth anything, by what the linear program says?
  [[nodiscard]] bool is_at_optimum(std::int32_t height) const;

  /// Forests as `pack` finds them, whatever their height, where they may beat those that are no
  /// higher than that. Errors: R01; those of `pack` where nothing is known that low.
  Expected<void> find_any(std::int32_t rival_height);

  /// Forests no higher than that. Errors: as of `find_any`.
  Expected<void> find_at(std::int32_t height);

  /// Forests no higher than `height` that beat all that are known up to `rival_height`. Errors: as
  /// of `find_any`.
  Expected<void> find_low(std::int32_t height, std::int32_t rival_height);

 private:
  [[nodiscard]] bool is_thorough(const Scaling& scaling) const;
  [[nodiscard]] bool gives_up(const Scaling& scaling, const Patience& patience) const;
  [[nodiscard]] bool may_be_low(const Scaling& scaling, std::int32_t height) const;
  [[nodiscard]] bool may_win(const Scaling& scaling, std::int32_t rival_height) const;
  [[nodiscard]] std::optional<Ratio> best_rate(std::int32_t height) const;
  [[nodiscard]] Rivals rivals_at(std::int32_t height) const { return {height, most_scale_}; }
  Expected<bool> is_widest_enough(std::int32_t height, KnownForests& widest);
  Expected<void> find_fastest(std::int32_t height);
  Expected<void> find_fastest_with_longer_descents(std::int32_t height);
  Expected<void> search(const Scaling& scaling, const PackOptions& options,
                        std::int32_t rival_height);
  void note(const Packing& packing);
  void find_by_program(std::int32_t height);
  void squeeze_all(std::int32_t height, bool is_asked);
  [[nodiscard]] const Scaling* most_copies(std::int64_t k) const;
  void squeeze_to(const Scaling& scaling, std::int64_t k, std::int32_t height);

  const Network& network_;
  const Weights& weights_;
  const PackOptions& options_;
  const std::int32_t least_;
  const bool is_any_number_;
  const std::optional<Ratio> most_scale_;
  const std::int64_t edges_of_one_;  ///< of all trees, where each root has one
  std::vector<Scaling> fastest_;     ///< the fastest first
  std::vector<Scaling> in_turn_;     ///< as they are searched
  KnownForests known_;
  std::map<std::int32_t, double> most_;        ///< by height: what a root's trees reach at most
  std::map<std::int64_t, Packing> best_of_k_;  ///< within the height at hand
  /// By k and how many trees it came to: from which scale it was squeezed last.
  std::map<std::pair<std::int64_t, std::int64_t>, Ratio> squeezed_;
};

}  // namespace forestcoll::solver
