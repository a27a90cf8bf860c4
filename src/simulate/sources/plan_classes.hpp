// Operations of a plan that do the same at the same time, whatever the size and the costs.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/flow_classes.hpp"

namespace forestcoll::simulate {

/// What a plan's threadblocks and proxies do, and what waits for what.
struct PlanOperations {
  struct Node {
    std::int32_t block = -1;
    std::int64_t unit = 0;               ///< of the pipeline that it stands in; 0: in none
    std::int32_t loop = -1;              ///< which pipeline of which threadblock
    bool by_proxy = false;               ///< not by the threadblock
    bool moves = false;                  ///< is data, not control
    std::int64_t copied = 0, added = 0;  ///< chunks, locally
    std::int64_t size = 0;               ///< chunks of each flow, flags included
    bool adds = false;                   ///< what flows is added to something
    bool packets = false;                ///< it makes or waits for packets
    std::vector<std::int32_t> routes;    ///< one flow after the other
  };
  struct Edge {
    std::int32_t from, to;
    std::int32_t route;  ///< −1: within a rank
    bool next_round = false;
    bool all_rounds = false;  ///< all of the one before any of the other
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

/// One operation of each class, and what the flows of all of them together load.
struct PlanClasses {
  PlanOperations operations;
  FlowClasses flows;
  std::vector<std::vector<std::int32_t>>
      loads;  ///< of `flows.routes`, by node, for each of its own
};

/// The classes of the coarsest equitable partition of operations and links (see `FlowClasses`):
/// those of a class also do as much, and wait in the same way for as many of every class. As in
/// `program_classes`, none of it depends on sizes or costs.
/// Cost: O(n log n) in nodes, edges and parts of routes.
[[nodiscard]] PlanClasses plan_classes(const PlanOperations& all, const Fabric& fabric);

/// The finest: each operation and each link by itself.
[[nodiscard]] PlanClasses each_by_itself(const PlanOperations& all, const Fabric& fabric);

}  // namespace forestcoll::simulate
