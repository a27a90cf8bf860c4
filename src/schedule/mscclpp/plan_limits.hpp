// What the executor of MSCCL++ holds.
#pragma once

#include <string>

#include "forestcoll/diagnostic.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::schedule {

/// What its arrays and offsets do not hold: T02 operations of a threadblock, T03 channels of a
/// threadblock, or, with `remedy`, port channels of a GPU, T04 offsets. Cost: linear in the plan.
[[nodiscard]] Expected<void> refuse_plan(const ExecutionPlan& plan, const std::string& remedy);

}  // namespace forestcoll::schedule
