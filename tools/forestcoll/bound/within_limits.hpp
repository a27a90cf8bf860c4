// The rates that `forestcoll bound` reports where links share capacities, by the joint program.
#pragma once

#include <stop_token>
#include <string>

#include "bound/answer.hpp"
#include "bound/arguments.hpp"
#include "common/fabric.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::cli {

/// The rows of `solve_bound` for collectives of trees, each with its lengths. Errors: those of
/// roots and of `optimum_of_all`. Cost: a joint optimum for each collective, and of an allreduce
/// alone those of its two phases.
[[nodiscard]] Expected<BoundAnswer> solve_within_limits(const Fabric& fabric,
                                                        const BoundArguments& options);

/// A collective along paths with the lengths that prove it, in the units of `AlltoallProof`.
struct PathsWithinLimits {
  AlltoallProof proof;  ///< its flows are empty, and limits are part of what its lengths prove
  ProvedByLengths by;
};
/// Errors: those of `optimum_of_all`.
[[nodiscard]] Expected<PathsWithinLimits> paths_within_limits(const Network& network,
                                                              const Demand& demand,
                                                              const std::stop_token& stop = {});

/// What independent code finds wrong with the lengths, a line; else nothing.
[[nodiscard]] std::string flaw_of_lengths(const ProvedByLengths& proved, const Network& network);

/// "bottleneck of allgather: limit bus of 16 GB/s, …", or several lines.
[[nodiscard]] std::string bottleneck_in_words(const ProvedByLengths& proved, const Fabric& fabric);

}  // namespace forestcoll::cli
