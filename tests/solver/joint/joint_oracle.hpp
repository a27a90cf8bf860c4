// The best rate of several collectives at once by its definition.
#pragma once

#include <span>

#include "forestcoll/job.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::test {

/// The linear program with a flow to every member of every group, from what its roots have, within
/// what the group takes of the links, and a flow per pair of what goes along paths; no cuts, no
/// aggregation, by GLPK. GB/s of the largest operation's buffer. For fabrics of a dozen nodes.
double joint_rate_by_definition(const Network& network, std::span<const JobOperation> operations,
                                bool relays);

}  // namespace forestcoll::test
