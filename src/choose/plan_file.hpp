// A plan of MSCCL++ as the simulator takes it.
#pragma once

#include "audit/plan/file.hpp"
#include "schedule/mscclpp/class_plan.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "simulate/sources/read_plan.hpp"

namespace forestcoll::choose {

/// What the reader makes of the plan's text, where it is called "plan", without writing and reading
/// it. For simulation alone: what is written is read and verified as text. Cost: linear.
[[nodiscard]] audit::PlanFile plan_file_of(const ExecutionPlan& plan);

/// What the GPUs of the plan of first ranks stand for. REQUIRES: that outlives the result.
[[nodiscard]] simulate::PlanImages images_of(const schedule::ClassPlan& classes);

}  // namespace forestcoll::choose
