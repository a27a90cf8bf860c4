// What releases of MSCCL++ hold is the same (see schedule/mscclpp/blocks.hpp). Only 0.10 has the
// operations `gstore` and `gstorepkt`, on which 0.9 throws.
#include "forestcoll/plan_target.hpp"

#include <algorithm>

namespace forestcoll {

const std::vector<PlanTarget>& plan_targets() {
  static const std::vector<PlanTarget> rows = {{"mscclpp-0.10", true}, {"mscclpp-0.9", false}};
  return rows;
}

const PlanTarget* find_plan_target(std::string_view name) {
  if (name == kPlanTarget) return &plan_targets().front();
  const auto row = std::ranges::find(plan_targets(), name, &PlanTarget::name);
  return row == plan_targets().end() ? nullptr : &*row;
}

}  // namespace forestcoll
