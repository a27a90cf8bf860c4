// The best rate of one collective by trees of a limited height, within what links share.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "forestcoll/commodity.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// The fastest trees of a limited height.
struct HeightOptimum {
  Ratio reached;            ///< GB/s of the whole buffer
  bool is_optimal = false;  ///< no trees of this height are faster, as floating point has it
  bool is_exact = false;    ///< `reached` is no number of floating point
  LinkShares shares = {};   ///< what they take of the links, as of one commodity
};

/// The best rate of trees no higher than that, within the network's limits; of an allreduce with
/// any shares of the roots. It is the optimum over all trees of up to ten ranks, and over stars
/// (height 1) of any number of them; of more ranks, higher trees are found by local search. Links
/// that symmetries exchange have the same shares. Nothing where some root reaches others in more
/// hops alone, where numbers do not fit, or where it was stopped. REQUIRES: the operation is that
/// of `operation_of_all`, of trees, and what it moves has an owner. Cost: that of
/// `solver::solve_low`.
[[nodiscard]] std::optional<HeightOptimum> optimum_of_height(const Network& network,
                                                             const JobOperation& operation,
                                                             std::int32_t height,
                                                             const std::stop_token& stop = {});

}  // namespace forestcoll
