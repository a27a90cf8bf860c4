// Operations of a plan that do the same at the same time, whatever the size and the costs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/flow_classes.hpp"
#include "simulate/sources/image_routes.hpp"
#include "simulate/sources/plan_operations.hpp"

namespace forestcoll::simulate {

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
/// The same where ranks stand for others: `images` has the routes of their operations. None where
/// these are not as alike as the ranks.
[[nodiscard]] std::optional<PlanClasses> plan_classes(const PlanOperations& all,
                                                      const Fabric& fabric,
                                                      const ImageRoutes& images);

/// The finest: each operation and each link by itself.
[[nodiscard]] PlanClasses each_by_itself(const PlanOperations& all, const Fabric& fabric);

}  // namespace forestcoll::simulate
