// Integral capacities that are balanced at every switch and still carry a demand.
#pragma once

#include <optional>
#include <span>
#include <stop_token>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::solver {

/// Can every compute node be sent what all ranks own? Cost: all sinks' maximum flows.
[[nodiscard]] bool carries(const Network& network, const IdVector<ArcId, Capacity>& capacity,
                           const Weights& owed);

/// Capacities within these, balanced and carrying `owed`: those that lose least, the losses being
/// made dearer, a few times over, on the cuts that they break. Nothing where that finds none.
/// Cost: a few times a minimum-cost flow and `carries`.
[[nodiscard]] std::optional<IdVector<ArcId, Capacity>> trim_where_spare(
    const Network& network, const IdVector<ArcId, Capacity>& capacity, const Weights& owed);

/// The same near a balanced part in floating point, by arc: no less than its floors, and with as
/// much more as there is. Nothing where that does not carry `owed`.
/// Cost: a minimum-cost flow and `carries`.
[[nodiscard]] std::optional<IdVector<ArcId, Capacity>> trim_near(
    const Network& network, const IdVector<ArcId, Capacity>& capacity, const Weights& owed,
    std::span<const double> part);

/// Balanced capacities of ⌊scale · b⌋ or ⌈scale · b⌉ each, the more floors the better: whatever the
/// floors carry, these do. Links between ranks have their floors. Nothing where the fabric itself
/// is unbalanced. Cost: a minimum-cost flow.
[[nodiscard]] std::optional<IdVector<ArcId, Capacity>> balanced_near(const Network& network,
                                                                     const Ratio& scale);

struct Trimming {
  std::optional<IdVector<ArcId, Capacity>> capacity;  ///< none where none was found
  bool is_impossible = false;  ///< no balanced part, whole or not, carries it
};

/// The first of these that works, the part being the best by the linear program.
/// Cost: that of `tree_rate` and the two above.
[[nodiscard]] Trimming trim_to_balance(const Network& network,
                                       const IdVector<ArcId, Capacity>& capacity,
                                       const Weights& owed, const TreeRateLimits& limits,
                                       const std::stop_token& stop);

}  // namespace forestcoll::solver
