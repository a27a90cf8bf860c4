// The rates that `forestcoll bound` reports, with their proofs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bound/arguments.hpp"
#include "common/report/alltoall_report.hpp"
#include "forestcoll/bottleneck.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/commodity.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::cli {

/// One phase of a collective, with its proof.
struct PhaseBound {
  Collective collective;  ///< the one that consists of this phase alone
  Rate rate;
  Weights weights;
  Bottleneck bottleneck;
};

/// A line of the report.
struct BoundRow {
  Collective collective;
  std::optional<Rank> root;
  Ratio algbw, busbw;  ///< GB/s: of the optimum, what nothing exceeds
  RateFigures rates;
  std::optional<Expected<Ratio>> reached = {};  ///< see `add_reached`
};

/// What stands in place of a line whose exact numbers do not fit.
struct UnknownBound {
  Collective collective;
  Diagnostic why;
};

/// A broadcast or reduce that switches make faster than trees over GPUs, or may.
struct FasterBySwitches {
  Collective collective;
  Ratio without;  ///< GB/s
  Expected<PhaseOptimum> optimum;
};

/// A collective of all ranks with the lengths of links and limits that prove it.
struct ProvedByLengths {
  Collective collective;
  JointDemand demand;
  JointOptimum optimum;
};

/// The collectives that were asked for, and the phases that prove them.
struct BoundAnswer {
  std::vector<BoundRow> rows;  ///< at least one
  std::vector<PhaseBound> phases;
  std::int64_t k = 1;  ///< of the first row, like the first phase
  std::vector<UnknownBound> unknown = {};
  std::optional<RateFigures> allreduce = {};  ///< where its row is unknown
  std::vector<FasterBySwitches> by_switches = {};
  /// Where links share capacities, in place of phases and k: by row.
  std::vector<ProvedByLengths> proved = {};
  std::optional<Ratio> rate_per_root = {};  ///< GB/s, likewise, as a bottleneck has it
};

/// All-to-all beside the collectives by trees, where it is in the report.
struct QuickAlltoall {
  AlltoallProof proof;
  AlltoallRates rates;
  std::optional<Expected<Ratio>> reached = {};
  std::optional<ProvedByLengths> proved = {};  ///< where links share capacities
};

/// Every collective stands by itself: one whose numbers do not fit hides no other.
/// Errors: S02 a root that is missing, unknown or not wanted; E14 where none is known.
[[nodiscard]] Expected<BoundAnswer> solve_bound(const Fabric& fabric,
                                                const BoundArguments& options);

/// What is known of an allreduce, its row or not; null where it is not among the answers.
[[nodiscard]] const AllreduceFigures* find_allreduce(const BoundAnswer& answer);

/// Nothing where one collective is asked for, or where it would take long.
[[nodiscard]] std::optional<QuickAlltoall> alltoall_beside(const BoundArguments& options,
                                                           const Network& network);

/// What `synth` reaches of every row, and of the all-to-all. Cost: that of `synth` for each, up to
/// 64 GPUs.
void add_reached(BoundAnswer& answer, std::optional<QuickAlltoall>& alltoall, const Fabric& fabric,
                 const std::string& target, const Console& console);

/// The rates again, by independent code: what is wrong where one of them differs, a line; else
/// nothing.
[[nodiscard]] std::string disagreement(const BoundAnswer& answer, const Network& network,
                                       const Console& console);

}  // namespace forestcoll::cli
