// What `bound` says of an all-to-all, a scatter and a gather.
#pragma once

#include <cstddef>
#include <string>

#include "common/report/report.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// The optimum as nccl-tests counts it: GB/s.
struct AlltoallRates {
  Ratio algbw, busbw;  ///< what flows reach
  Ratio algbw_at_most;
};

/// A rank's whole send buffer, on average, or the root's buffer, over the time. Errors: E14.
[[nodiscard]] Expected<AlltoallRates> rates_of(const AlltoallProof& proof,
                                               const ParsedDemand& demand);

/// The optimum, that of trees too.
[[nodiscard]] RateFigures figures_of(const AlltoallRates& rates);

/// Of what the proof proves of a demand; errors of `rates_of` are those of the figures.
[[nodiscard]] RateFigures paths_figures(const AlltoallProof& proof, const ParsedDemand& demand);

/// A number that is exact, or what is reached of it: {"exact": null, "value": …}.
[[nodiscard]] Json exact_or_reached(const Ratio& reached, bool is_exact);

/// The "alltoall" of the report: {"pair", "at_most", "lengths"}; of a demand "seconds" and "bytes"
/// instead of "pair" and "at_most".
[[nodiscard]] Json to_json(const AlltoallProof& proof, const ParsedDemand& demand,
                           const Topology& topology, const Network& network);

/// What a pair gets, or how long the demand takes, in lines.
[[nodiscard]] std::string rate_in_words(const AlltoallProof& proof, const Demand& demand,
                                        const AlltoallRates& rates);

/// Lines: the cut ("the 8 GPUs of box0 send 64 blocks through 8 links of 25 GB/s"), or the links
/// that have lengths, and up to `top` of them by name.
[[nodiscard]] std::string bottleneck_in_words(const AlltoallProof& proof, const Demand& demand,
                                              const Topology& topology, const Network& network,
                                              std::size_t top);

}  // namespace forestcoll::cli
