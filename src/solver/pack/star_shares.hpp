// What the roots of an allreduce's flat trees have, where some have narrower ways out than others.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/common/core.hpp"

namespace forestcoll::solver {

/// Ranks in groups (of one switch, as in a box), and what leaves them. In a flat tree the root's
/// group sends to each of the others, and each of the others is entered once; used both ways, out
/// of G groups one of which roots w of M trees has to carry M + (G − 2)·w. So a group with a
/// narrower way out carries as many trees as the others where it roots fewer.
class StarShares {
 public:
  /// Cost: O(m).
  explicit StarShares(const Core& core);

  /// Fewer than three groups send as much whoever is the root.
  [[nodiscard]] bool has_choice() const { return members_.size() > 2 && is_joined_; }
  /// Trees by root, k of those roots whose share is the most common one; the others in proportion,
  /// rounded down by group. REQUIRES: `has_choice()`.
  [[nodiscard]] Weights trees(std::int64_t k) const;
  /// How many times its capacity the group needs for these trees that is loaded the most, by its
  /// ways out or inside, or the rank, where data enters a group by the rank at the root's place.
  [[nodiscard]] Ratio scale(const Weights& trees) const;

 private:
  [[nodiscard]] std::vector<double> shares_of_groups() const;

  std::vector<std::vector<Rank>> members_;  ///< by group
  std::vector<Capacity> leaving_, inside_;  ///< by group
  IdVector<Rank, Capacity> leaving_rank_;
  bool is_joined_ = true;  ///< each group has links inside and a way out
};

}  // namespace forestcoll::solver
