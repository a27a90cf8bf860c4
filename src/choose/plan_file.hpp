// A plan of MSCCL++ as the simulator takes it.
#pragma once

#include "audit/plan/file.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::choose {

/// What the reader makes of the plan's text, where it is called "plan", without writing and reading
/// it. For simulation alone: what is written is read and verified as text. Cost: linear.
[[nodiscard]] audit::PlanFile plan_file_of(const ExecutionPlan& plan);

}  // namespace forestcoll::choose
