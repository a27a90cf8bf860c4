// A topology with what is derived from it once: what schedules are compiled for.
#pragma once

#include "forestcoll/gpu.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

struct Fabric {
  Topology topology;
  Network network;  ///< `to_digraph(topology)`
  ChosenGpu gpu;    ///< whose figures the model of time takes
};

}  // namespace forestcoll
