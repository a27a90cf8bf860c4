// The steps of a program as operations, and their order.
#pragma once

#include <cstdint>
#include <span>

#include "audit/common/memory_map.hpp"
#include "audit/execution/event_order.hpp"
#include "audit/execution/execution.hpp"
#include "audit/msccl/step_graph.hpp"

namespace forestcoll::audit {

/// Two events of each step, its beginning and its end; a line for each threadblock. `order` is a
/// linear order of the steps.
[[nodiscard]] EventOrder step_events(const StepGraph& graph, std::span<const std::int32_t> order);

/// What the steps do. `graph` and `events` outlive the result.
[[nodiscard]] Execution step_execution(const StepGraph& graph, const EventOrder& events,
                                       std::span<const std::int32_t> order);

/// Adds a finding for every two steps that race, and every step whose source and destination
/// overlap.
void check_races(const StepGraph& graph, const Execution& execution, const MemoryMap& memory,
                 Findings& findings);

}  // namespace forestcoll::audit
