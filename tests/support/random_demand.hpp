// Demands at random, and in another order.
#pragma once

#include "forestcoll/alltoall.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::test {

/// Amounts up to `most` between any two ranks, many of them 0.
Demand random_demand(std::size_t ranks, std::int64_t most, std::uint64_t seed);

/// The same fabric with nodes in another order; `demand` too, if asked for.
struct Relabelled {
  Network network;
  Demand demand;
};
Relabelled relabelled(const Network& network, const Demand& demand, std::uint64_t seed);

}  // namespace forestcoll::test
