// The best rate of an all-to-all by its definition.
#pragma once

#include "forestcoll/alltoall.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::test {

/// The linear program with one commodity per pair of ranks (no aggregation, no symmetry), by GLPK:
/// GB/s per unit of demand. For fabrics of a dozen nodes.
double rate_by_definition(const Network& network, const Demand& demand);

/// Amounts up to `most` between any two ranks, many of them 0.
Demand random_demand(std::size_t ranks, std::int64_t most, std::uint64_t seed);

/// The same fabric with nodes in another order; `demand` too, if asked for.
struct Relabelled {
  Network network;
  Demand demand;
};
Relabelled relabelled(const Network& network, const Demand& demand, std::uint64_t seed);

}  // namespace forestcoll::test
