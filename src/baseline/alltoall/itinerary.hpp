// How algorithms for all-to-all, scatter and gather say what they do: the GPUs where a pair's data
// stops, and when.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "baseline/boxes.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::baseline {

/// From stop to stop; both ends of the pair included.
struct Itinerary {
  std::vector<Rank> stops;
  /// Between two stops, ascending; empty: the algorithm has no rounds.
  std::vector<std::int32_t> rounds;
};

using ItineraryOf = std::function<Itinerary(Rank src, Rank dst)>;

struct Places {
  const Topology& topology;
  const Boxes& boxes;
  const Demand& demand;
};

/// NCCL's order of sending (src/init.cc, the schedule of point-to-point operations): ranks are in
/// groups of at most eight of a box; a rank sends to group after group, deltas of groups being
/// 0, 1, 3, 6, … modulo the next power of two, without those that are no group's; and in the same
/// way to the ranks of each. No data is relayed.
/// Differs: all of a group are sent to in one round, as the eight operations of one batch of work
/// run at a time; more channels have more batches under way.
[[nodiscard]] Expected<ItineraryOf> nccl_pairwise(const Places& places);

/// The same where data for another box goes to the GPU of the sender's box that stands where the
/// receiver does in its own, which sends on what it has of all (NVIDIA, PXN, NCCL 2.12). Boxes that
/// are smaller than the receiver's place take turns.
[[nodiscard]] Expected<ItineraryOf> nccl_pxn(const Places& places);

/// In two levels: first all inside the boxes, each GPU giving every other what is for that place in
/// any box; then between GPUs of the same place (Hwang et al., "Tutel", MLSys 2023, its 2DH).
/// Error B02: boxes of different sizes.
[[nodiscard]] Expected<ItineraryOf> two_levels(const Places& places);

/// Bruck's index algorithm with radix 2: in round i a rank passes to the one 2^i further on all
/// that has a distance left with bit i (Bruck et al., 1997).
[[nodiscard]] Expected<ItineraryOf> bruck_index(const Places& places);

/// Of a scatter or gather, down or up a binomial tree: a rank at place 2^i·(2j + 1) from the root
/// has its data from, or for, the one at 2^i·2j, with all that is for the places behind it
/// (textbook; MPICH, Thakur et al., 2005). REQUIRES: the demand has a root.
[[nodiscard]] Expected<ItineraryOf> binomial(const Places& places);

/// Every pair by itself; rounds are whatever the caller makes of it.
[[nodiscard]] Expected<ItineraryOf> direct(const Places& places);

}  // namespace forestcoll::baseline
