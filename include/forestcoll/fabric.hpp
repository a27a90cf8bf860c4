// A topology with what is derived from it once: what schedules are compiled for.
#pragma once

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/gpu.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll {

struct Fabric {
  Topology topology;
  Network network;  ///< `to_digraph(topology)`
  ChosenGpu gpu;    ///< whose figures the model of time takes
};

/// Errors: E14 (see `to_digraph`). Cost: O(n + m).
[[nodiscard]] Expected<Fabric> make_fabric(Topology topology, const Metadata& metadata = {});
/// For a GPU that is known already.
[[nodiscard]] Expected<Fabric> make_fabric(Topology topology, ChosenGpu gpu);

}  // namespace forestcoll
