// What each node of a plan's graph knows to be over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {

/// Must the access of `before`, or the beginning of a rank's call, be over when `after` begins?
struct PlanQuery {
  std::int32_t before = -1, after = -1;
};

/// Whether every query holds by what the graph carries: data, or only the order of execution in
/// time, which relaxed signals and packets give as well. `order` respects the graph.
///
/// A read is over once it is over in time: a thread has the values of its loads before it takes
/// another step that others can see. A write is not: it may still be under way to the memory of
/// another rank when a relaxed signal has arrived there.
/// Cost: O(nodes · columns that are asked about) in bounded memory.
enum class PlanOrder : std::uint8_t { data, time };
[[nodiscard]] std::vector<bool> known_before(const PlanGraph& graph,
                                             std::span<const std::int32_t> order,
                                             std::span<const PlanQuery> queries, PlanOrder by);

}  // namespace forestcoll::audit
