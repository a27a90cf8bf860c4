// What the nodes of a plan do as operations, and their order.
#pragma once

#include <cstdint>
#include <span>

#include "audit/execution/execution.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {

/// What the nodes that move data do, and between which events; starts and ends of calls have spans,
/// too. Operations have the numbers of the nodes. `order` respects the graph; plan and graph
/// outlive the result. Cost: O(nodes + edges).
[[nodiscard]] Execution plan_execution(const PlanFile& plan, const PlanGraph& graph,
                                       std::span<const std::int32_t> order);

}  // namespace forestcoll::audit
