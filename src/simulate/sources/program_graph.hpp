// The steps of a program as activities, for one size.
#pragma once

#include <cstdint>
#include <span>

#include "audit/msccl/step_graph.hpp"
#include "simulate/fabric/event_graph.hpp"
#include "simulate/fabric/graph_maker.hpp"
#include "simulate/sources/program_classes.hpp"

namespace forestcoll::simulate {

/// How a chunk goes through a program, and how an operation of many chunks is split.
struct ChunkPasses {
  std::int64_t passes = 1;
  double bytes = 0;        ///< of a chunk in a pass
  std::int32_t split = 1;  ///< chunks of one activity, of messages
};
[[nodiscard]] ChunkPasses passes_of_chunk(const ProtocolParameters& protocol, double chunk_bytes);

/// The activities of the steps of one threadblock of each class, each counted in every pass: what
/// `program_graph` would make. Cost: linear in these steps.
[[nodiscard]] double activity_count(const audit::StepGraph& steps, const FlowClasses& classes,
                                    const ChunkPasses& chunk);

/// The steps of one threadblock of each class. `routes` as for `program_classes`; `maker` is of the
/// program's protocol and has made nothing yet.
/// Cost: O(n) in the activities of these threadblocks.
[[nodiscard]] ClassGraph program_graph(const audit::StepGraph& steps,
                                       std::span<const std::int32_t> routes,
                                       const FlowClasses& classes, GraphMaker maker,
                                       double chunk_bytes);

}  // namespace forestcoll::simulate
