// The best rate of several collectives at once by its definition.
#pragma once

#include <span>
#include <vector>

#include "forestcoll/job.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::test {

/// The linear program with a flow to every member of every group, from what its roots have, within
/// what the group takes of the links, and a flow per pair of what goes along paths; no cuts, no
/// aggregation, by GLPK. GB/s of the largest operation's buffer. For fabrics of a dozen nodes.
double joint_rate_by_definition(const Network& network, std::span<const JobOperation> operations,
                                bool relays);

/// The lexicographically largest rates by such programs, one after the other: the largest common
/// rate, then for each operation whether it can have more while the others have as much, and so on
/// with those that can. By operation, in GB/s of the largest buffer times its weight.
std::vector<double> max_min_by_definition(const Network& network,
                                          std::span<const JobOperation> operations, bool relays);

}  // namespace forestcoll::test
