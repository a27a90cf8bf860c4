// What each group takes of the links, from trees and paths of one of each kind.
#pragma once

#include <span>

#include "forestcoll/commodity.hpp"
#include "forestcoll/network.hpp"
#include "solver/joint/lengths_program.hpp"
#include "solver/joint/mixture.hpp"
#include "solver/joint/portions.hpp"

namespace forestcoll::solver {

/// A column stands for its images under the symmetries of `portions`. On the average over all of
/// them, pairs of a group and an arc that they exchange for one another carry the same: what the
/// columns put on such a class of pairs is divided evenly among it. Cost: linear in the columns
/// and, per symmetry, in the classes of pairs that they cross.
[[nodiscard]] LinkShares shares_of(const Network& network, const JointDemand& demand,
                                   const Portions& portions, std::span<const Column> columns,
                                   const Mixture& mixture);

}  // namespace forestcoll::solver
