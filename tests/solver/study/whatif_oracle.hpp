// What failures cost and upgrades bring, by solving every changed fabric from scratch: expectations
// of GoogleTest.
#pragma once

#include <cstddef>
#include <vector>

#include "forestcoll/topology.hpp"
#include "forestcoll/whatif.hpp"

namespace forestcoll::testing {

/// Every node and every box once, in order, against the fabric that --drop leaves.
void expect_losses_exact(const Topology& topology, Collective collective, const WhatIf& result);
/// Every link of the failures once, `links` in all, against the fabric without it or without one of
/// its cables.
void expect_failures_exact(const std::vector<FailureEffect>& failures, const Topology& topology,
                           Collective collective, std::size_t links);
/// What a failure is called, --drop takes and leaves as much.
void expect_names_drop(const Topology& topology, Collective collective, const WhatIf& result);
/// All of these of the topology's `what_if`, and its upgrades: every link is listed with its gain,
/// or brings none.
void expect_all_exact(const Topology& topology, Collective collective);

/// Links of several cables.
std::size_t bundles_in(const Topology& topology);

}  // namespace forestcoll::testing
