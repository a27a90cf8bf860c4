// Plans of MSCCL++ that sum and copy in switches.
#pragma once

#include <string>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fabric.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::choose {

/// A plan and what it is called in its file.
struct NamedPlan {
  ExecutionPlan plan;
  std::string name;
};

/// Of one box what the trees say, of several a plan of its own: what that reaches, `verify` says.
/// Errors: T06 where not every box has a switch that its GPUs hang on and that combines, or a GPU
/// has no route through switches alone to the one of its place in another box; those of
/// `lower_to_switch_plan` and `make_box_plan`.
[[nodiscard]] Expected<NamedPlan> switch_plan(const BranchingForest& trees, const Fabric& fabric,
                                              const PlanOptions& options);

/// Packets for small messages. Errors: those of `make_packet_plan`.
[[nodiscard]] Expected<NamedPlan> packet_plan(const Fabric& fabric, const PlanOptions& options);

}  // namespace forestcoll::choose
