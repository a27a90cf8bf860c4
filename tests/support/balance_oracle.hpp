// The rate of trees on any fabric, by another program than the solver's.
#pragma once

#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::test {

/// The highest rate of a part of the fabric that is balanced at every switch, in floating point: a
/// linear program with a flow to every compute node in place of the cuts, by GLPK.
double rate_by_flows(const Network& network, const Weights& weights);

}  // namespace forestcoll::test
