// From the boxes to the topology file: one box, many alike, or the hosts of a cluster's network.
#pragma once

#include <optional>

#include "forestcoll/topology_text.hpp"
#include "topology/readers/context.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {

/// The machines of one file, `--boxes` of them, joined by `--fabric`. Nothing after an error.
[[nodiscard]] std::optional<TopologyDocument> build_cluster(const Context& context,
                                                            const Machines& machines);

/// A machine, given by its dump in the options, for every host of the network. What is wrong with
/// that dump goes to `box_findings`, which carry its name.
[[nodiscard]] std::optional<TopologyDocument> join_cluster(const Context& context,
                                                           const ClusterNetwork& network,
                                                           Findings& box_findings);

}  // namespace forestcoll::importing
