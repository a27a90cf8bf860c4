// Slow, obvious answers about allreduces whose trees branch at switches.
#pragma once

#include <optional>
#include <string>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::testing {

/// The optimum in the network's units, by a linear program with a column for every tree: ranks and
/// any set of able switches, each hung below another by any path through switches. Nothing where
/// the trees are too many. `height`: of trees that are no higher.
std::optional<double> best_by_all_trees(const Network& network, const SwitchRoles& roles,
                                        std::size_t height = 1'000);

/// The same of a broadcast from one root, or of a reduce to it; without a root, of an allgather or
/// a reduce-scatter.
std::optional<double> best_by_all_trees(const Network& network, const SwitchRoles& roles,
                                        Collective collective, std::optional<Rank> root);

/// What a split says of itself, by definition. Empty where it holds: nothing takes more of an arc
/// or a limit than it has, echoes counted; only able switches branch; what goes through a switch
/// leaves it; every rank and every spanned switch can be sent all data of its trees; both phases
/// have the same roots.
std::string find_split_flaw(const Network& network, const SwitchRoles& roles,
                            const AllreduceSplit& split);

}  // namespace forestcoll::testing
