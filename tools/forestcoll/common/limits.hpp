// Fabrics with links that share a capacity (`limits` of a topology file), as commands work on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// E18 where links share a capacity, which `what` does not know.
[[nodiscard]] Expected<void> refuse_limits(const Topology& topology, std::string_view what);

/// "limit bus of 16 GB/s, shared by 4 directions".
[[nodiscard]] std::string in_words(const SharedLimit& limit);
/// The same of `network.limits[number]`, with the bandwidth that the file has for its weights.
/// REQUIRES: the network is the topology's.
[[nodiscard]] std::string limit_in_words(const Topology& topology, const Network& network,
                                         std::size_t number);

/// {"name", "bandwidth", "links": [{"src", "dst", "limit_weight"}]}, as the file has them.
[[nodiscard]] Json to_json(const SharedLimit& limit, const Topology& topology);
/// The same of `network.limits[number]`, with whole weights in lowest terms, which lengths of a
/// proof are multiplied by.
[[nodiscard]] Json limit_json(const Topology& topology, const Network& network, std::size_t number);

/// Whether the proof needs a limit.
[[nodiscard]] bool is_held_by_limits(const ProvingLengths& lengths);

/// "lengths" and "shared_limits", each with its "length": of all that is not 0. Lengths are
/// {"exact", "value"}.
[[nodiscard]] Json to_json(const ProvingLengths& lengths, const Topology& topology,
                           const Network& network);
/// Lines without an end: links alike together, "2 links of pcie 32 GB/s, gpu2 -> sw, …: length 1",
/// and limits; of one limit alone the length is left out.
[[nodiscard]] std::vector<std::string> in_words(const ProvingLengths& lengths,
                                                const Topology& topology, const Network& network);

/// What a joint optimum of all ranks says of a collective of trees. The program has no nodes where
/// trees branch but GPUs: where switches copy or sum for it, the optimum is E18.
[[nodiscard]] RateFigures figures_within_limits(const JointOptimum& optimum,
                                                const SwitchRoles& roles, Collective collective);

/// What the figures of an allreduce follow from, where `gather` and `scatter` are the rates of its
/// phases alone. REQUIRES: `figures_within_limits` made the figures, which are of an allreduce.
[[nodiscard]] AllreduceFigures allreduce_within_limits(const RateFigures& figures,
                                                       const Expected<Ratio>& gather,
                                                       const Expected<Ratio>& scatter);

/// The figures that `bound` has of a collective of trees of all ranks; `known` is its optimum,
/// where that is known. Errors of figures: those of `optimum_of_all`. Cost: that of
/// `optimum_of_all`, of an allreduce three times; one time less where the optimum is known.
[[nodiscard]] RateFigures rates_within_limits(const Network& network, const SwitchRoles& roles,
                                              Collective collective, std::optional<Rank> root,
                                              const std::optional<JointOptimum>& known,
                                              const std::stop_token& stop = {});

/// The same in the units of an all-to-all, a scatter or a gather: the proof, without flows and with
/// the lengths of links alone. REQUIRES: the optimum is of `operation_of_all`, with the demand
/// where that is not of blocks. Errors: E14.
[[nodiscard]] Expected<AlltoallProof> proof_within_limits(const JointOptimum& optimum,
                                                          const Demand& demand);

/// The figures that follow; errors of `proof_within_limits` are theirs.
[[nodiscard]] RateFigures paths_figures(const JointOptimum& optimum, const ParsedDemand& demand);

/// A collective of all ranks.
struct WholeCollective {
  Collective collective = Collective::allreduce;
  std::optional<Rank> root = {};
  const Demand* demand = nullptr;  ///< of what goes along paths; none: equal blocks
  /// Of its trees. What is not higher than 1 has the parts that the best stars take, of 32 ranks
  /// at most.
  std::optional<std::int32_t> max_height = {};
};

/// Where links share a capacity, the fabric's network becomes what the collective has of them at
/// its best rate (`joint_optimum`): a part of each, and no limits, so that forests and paths are
/// made on it. The topology keeps the limits, for times and for `verify`, and so does
/// `Fabric::whole`; `Fabric::optimum` and `Fabric::lengths` are the rate and what proves it, unless
/// trees may only have a height of 1. Says so. Errors: those of `joint_optimum` and
/// `within_limits`.
[[nodiscard]] Expected<void> divide_limits(Fabric& fabric, const WholeCollective& asked,
                                           const Console& console);

}  // namespace forestcoll::cli
