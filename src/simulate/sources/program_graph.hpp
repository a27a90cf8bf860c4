// The steps of a program as activities, for one size.
#pragma once

#include <cstdint>
#include <span>

#include "audit/msccl/step_graph.hpp"
#include "simulate/fabric/event_graph.hpp"
#include "simulate/fabric/graph_maker.hpp"
#include "simulate/sources/program_classes.hpp"

namespace forestcoll::simulate {

/// The steps of one threadblock of each class. `routes` as for `program_classes`; `maker` is of the
/// program's protocol and has made nothing yet.
/// Cost: O(n) in the activities of these threadblocks.
[[nodiscard]] ClassGraph program_graph(const audit::StepGraph& steps,
                                       std::span<const std::int32_t> routes,
                                       const FlowClasses& classes, GraphMaker maker,
                                       double chunk_bytes);

}  // namespace forestcoll::simulate
