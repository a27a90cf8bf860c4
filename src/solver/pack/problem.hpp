// A collective on a fabric, as the phases that are to be packed.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll::solver {

/// The networks, weights and phases of one collective, each with its rate: out-trees first,
/// in-trees last. On a fabric that is the same in both directions, in-trees are out-trees walked
/// backwards, and both are one phase.
struct Problem {
  /// REQUIRES: a root exactly where the collective needs one; `fabric` outlives this. Cost: that of
  /// `tree_rate`, twice where the directions differ.
  Problem(const Network& fabric, Collective collective, std::optional<Rank> root,
          const std::stop_token& stop = {});
  /// An allreduce whose phases run at the same time, each on a part of `fabric`: out-trees from
  /// roots with these shares on the one, in-trees on the other, which is turned round; none: they
  /// are the out-trees walked backwards. REQUIRES and cost: the same.
  Problem(const Network& fabric, Weights shares, Network of_broadcast,
          std::optional<Network> of_reduce, const std::stop_token& stop = {});
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  [[nodiscard]] std::optional<Rate> broadcast_rate() const;
  [[nodiscard]] std::optional<Rate> reduce_rate() const;
  /// Are the phases on parts of the fabric, at the same time?
  [[nodiscard]] bool is_divided() const { return broadcast_part_.has_value(); }

  const Network& network;
  Network backward;
  Weights weights;
  bool reduce, broadcast;
  bool shared;  ///< one phase for both
  std::vector<PhaseProblem> phases;

 private:
  std::optional<Network> broadcast_part_, reduce_part_;
};

/// GB/s, one phase after the other, or where it is divided both at once. Error E14.
[[nodiscard]] Expected<Ratio> optimum_of(const Problem& problem);
/// The least number of trees per root that reaches it in all phases. Error E14.
[[nodiscard]] Expected<std::int64_t> k_of_optimum(const Problem& problem);

/// R01 where a rate was stopped before it was known: then there is nothing to pack at.
[[nodiscard]] Expected<void> refuse_open_rate(const Problem& problem);

}  // namespace forestcoll::solver
