// The steps of a program as operations, and their order.
#pragma once

#include <cstdint>
#include <span>

#include "audit/execution/execution.hpp"
#include "audit/msccl/step_graph.hpp"

namespace forestcoll::audit {

/// What the steps do, and between which events: operations have the numbers of the steps. `order`
/// is a linear order of all steps; the graph outlives the result. Cost: O(steps).
[[nodiscard]] Execution step_execution(const StepGraph& graph, std::span<const std::int32_t> order);

}  // namespace forestcoll::audit
