// Slow, obvious answers about allreduces whose trees branch at ranks alone.
#pragma once

#include <string>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::testing {

/// The optimum by its definition: two variables per arc, all cuts, no symmetry; by a simplex in
/// exact arithmetic. Cost: 2^nodes rows.
double by_definition(const Network& network);

/// A split of trees that branch at ranks alone.
struct RankSplit {
  IdVector<Rank, Ratio> root;
  IdVector<ArcId, Ratio> reduce, broadcast;
};
/// The split as one; fails the test where a tree of it branches at a switch.
RankSplit of_ranks(const Network& network, const AllreduceSplit& split);

/// What the optimum's split says of itself, by definition and in exact arithmetic. Empty where it
/// holds. REQUIRES: there is a split. Cost: 2^nodes cuts.
std::string find_split_flaw(const Network& network, const AllreduceOptimum& optimum);

}  // namespace forestcoll::testing
