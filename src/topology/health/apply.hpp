// What dumps say, as items of `drop` and `derate` of a topology.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/health.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"
#include "topology/health/dumps.hpp"

namespace forestcoll::health {

/// A machine's state, of the GPUs that the dump numbers 0, 1, …. False, and I02, where the dump is
/// of other GPUs.
[[nodiscard]] bool apply_machine(const Topology& topology, const std::vector<NodeId>& gpus,
                                 const MachineState& state, Findings& findings,
                                 HealthReport& report);

/// The state of a network, whose hosts are boxes of the topology. False, and I02, where it has none
/// of them.
[[nodiscard]] bool apply_network(const Topology& topology, const NetworkState& state,
                                 Findings& findings, HealthReport& report);

/// "A~B", so that `drop` takes no part of B for a number of cables.
[[nodiscard]] std::string link_item(const std::string& a, const std::string& b);

}  // namespace forestcoll::health
