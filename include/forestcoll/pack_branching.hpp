// Packing the trees of an allreduce that branch at switches.
#pragma once

#include "forestcoll/allreduce_optimum.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/switch_roles.hpp"

namespace forestcoll {

/// The trees that `optimum.split` promises. Trees that branch at the same switches are packed into
/// what the split gives them, with a twin beside each of these switches: a rank that owns nothing,
/// or, where a switch is a root, what is rooted there. Other switches are balanced, so by Edmonds'
/// theorem and splitting off (Bang-Jensen, Frank, Jackson 1995) the trees exist. `algbw` is added
/// up from the trees, echoes included. REQUIRES: `optimum` is of this network with these roles, and
/// has a split. Errors: E14 where the split's common denominator is too large; those of `pack`.
/// Cost: a packing per class of trees and phase.
[[nodiscard]] Expected<BranchingForest> pack_branching(const Network& network,
                                                       const SwitchRoles& roles,
                                                       const AllreduceOptimum& optimum,
                                                       const PackOptions& options = {});

}  // namespace forestcoll
