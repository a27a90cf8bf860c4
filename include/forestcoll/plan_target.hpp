// Releases of MSCCL++: the targets of execution plans.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forestcoll {

/// The word for the newest release, and for the format of plans.
inline constexpr const char* kPlanTarget = "mscclpp";

/// A target of plans, for `LowerOptions::target` with `Format::mscclpp`; `find_target` has it, too.
struct PlanTarget {
  std::string name;    ///< "mscclpp-0.10"
  bool switch_stores;  ///< has `gstore` and `gstorepkt`; all have `glres`
};
/// The newest first.
[[nodiscard]] const std::vector<PlanTarget>& plan_targets();
/// The release of that name, the newest for `kPlanTarget`; null where the name is of none.
[[nodiscard]] const PlanTarget* find_plan_target(std::string_view name);

}  // namespace forestcoll
