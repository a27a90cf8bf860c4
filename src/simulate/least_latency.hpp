// The latency that nobody's schedule is below.
#pragma once

#include <optional>

#include "forestcoll/collective.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// Seconds until the slowest message that the collective cannot do without has come from one rank
/// to the other, along the ways of the least latency, relayed by other ranks where that is quicker:
/// a step to send, a step at every rank that it comes to, `message_us` for every hop from rank to
/// rank, at least once that of the network where the boxes differ, and the links' latencies. In
/// `simulate` no empty message is faster. Of what has a root those between the root and all
/// others, else between all pairs.
/// REQUIRES: a root exactly where the collective has one. Cost: a search from every rank, from the
/// root alone where there is one.
[[nodiscard]] double least_latency(const Topology& topology, Collective collective,
                                   std::optional<Rank> root, const SimulationParameters& parameters,
                                   const ProtocolParameters& protocol);

}  // namespace forestcoll
