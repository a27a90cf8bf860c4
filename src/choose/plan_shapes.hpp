// How the trees of a plan are dealt to threadblocks.
#pragma once

#include <optional>
#include <span>

#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fabric.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::choose {

/// What a plan's data goes along. Plans of switches are in one shape, which is their own.
enum class PlanOf { trees, paths, switches };

/// The shapes to compare, at least one, each the fastest somewhere.
[[nodiscard]] std::span<const PlanShape> plan_shapes(PlanOf what);

struct TimedPlan {
  ExecutionPlan plan;
  /// For `kLargeMessage`; none where it is not for that, or was not simulated.
  std::optional<double> seconds = {};
};

/// The plan of all groups in the shape that takes the least time for a large message, or for the
/// largest that it is for, by simulation; of many GPUs, or trees with many edges, in the first
/// one. REQUIRES: `options` are settled, and as `lower_to_plan`. Errors: those of
/// `lower_to_plan`. Cost: that of simulating a plan for each shape.
[[nodiscard]] Expected<TimedPlan> plan_for_large_messages(std::span<const GroupForest> groups,
                                                          const Fabric& fabric,
                                                          const CompileOptions& options);
/// The same of one group of all ranks.
[[nodiscard]] Expected<TimedPlan> plan_for_large_messages(const CollectiveForest& forest,
                                                          const Fabric& fabric,
                                                          const CompileOptions& options);

}  // namespace forestcoll::choose
