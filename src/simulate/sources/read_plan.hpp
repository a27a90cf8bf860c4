// From an execution plan to operations that are timed.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/plan/channels.hpp"
#include "audit/plan/file.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/image_routes.hpp"
#include "simulate/sources/images.hpp"
#include "simulate/sources/plan_operations.hpp"

namespace forestcoll::simulate {

/// Where the GPUs of a plan that have threadblocks stand for all.
struct PlanImages {
  Images ranks;
  audit::ChannelEnds ends = {};
};

/// What the GPUs do, and what orders it: within threadblocks, between them, by messages from GPU to
/// GPU, and from round to round of a pipeline. Where they stand for others, `routes` gets those of
/// the data, and what a message orders may be at an image of the GPU that hears it. Findings where
/// no route leads. REQUIRES: as `build_plan_graph`. Cost: O(n log n) in operations.
[[nodiscard]] PlanOperations read_operations(const audit::PlanFile& plan,
                                             const audit::MemoryMap& memory,
                                             const PlanImages& images, Fabric& fabric,
                                             ImageRoutes& routes, audit::Findings& findings);

}  // namespace forestcoll::simulate
