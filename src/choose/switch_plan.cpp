#include "choose/switch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "choose/branching.hpp"
#include "forestcoll/boxes.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::choose {

Expected<NamedPlan> switch_plan(const BranchingForest& trees, const Fabric& fabric,
                                const PlanOptions& options) {
  const auto boxes = boxes_of_ranks(fabric.topology);
  const bool several = std::ranges::any_of(boxes, [&](auto box) { return box != boxes[Rank(0)]; });
  if (several && !has_boxes_on_able_switches(fabric)) {
    return make_error("T06", "not every box has a switch that combines",
                      "write the forest with --format forest");
  }
  auto plan = several ? make_box_plan(boxes, options) : lower_to_switch_plan(trees, boxes, options);
  if (!plan) return plan.errors();
  return NamedPlan{*std::move(plan),
                   fmt::format("forestcoll-{}-allreduce-switch", fabric.topology.name)};
}

Expected<NamedPlan> packet_plan(const Fabric& fabric, const PlanOptions& options) {
  auto plan = make_packet_plan(boxes_of_ranks(fabric.topology), options);
  if (!plan) return plan.errors();
  return NamedPlan{*std::move(plan),
                   fmt::format("forestcoll-{}-allreduce-packets", fabric.topology.name)};
}

}  // namespace forestcoll::choose
