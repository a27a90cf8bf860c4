// The two proved sides of an all-to-all's optimum.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/alltoall/instance/instance.hpp"
#include "solver/alltoall/instance/proof.hpp"

namespace forestcoll::solver::alltoall {

/// Flows by source of the instance.
using Flows = std::vector<IdVector<ArcId, std::int64_t>>;

/// Rates are in capacity per unit of demand.
struct Answer {
  std::optional<Ratio> at_most;
  ArcLengths lengths;
  std::vector<NodeId> cut;  ///< that the lengths are of, if any
  std::optional<Ratio> reached;
  Flows flows;
  std::int64_t parts = 1;

  [[nodiscard]] bool is_exact() const { return at_most && at_most == reached; }
  [[nodiscard]] bool is_near(double gap) const {
    return at_most && reached && reached->to_double() >= at_most->to_double() * (1 - gap);
  }

  /// Keeps the lengths if they prove more than those so far.
  void consider(const Instance& instance, ArcLengths candidate) {
    const auto rate = prove_at_most(instance, candidate);
    if (!rate || (at_most && *rate >= *at_most)) return;
    at_most = rate;
    lengths = std::move(candidate);
    cut.clear();
  }
  /// Keeps the flows if they reach more than those so far.
  void consider(const Instance& instance, Flows candidate, std::int64_t in_parts) {
    const auto rate = prove_reached(instance, candidate, in_parts);
    if (!rate || (reached && *rate <= *reached)) return;
    reached = rate;
    flows = std::move(candidate);
    parts = in_parts;
  }
};

}  // namespace forestcoll::solver::alltoall
