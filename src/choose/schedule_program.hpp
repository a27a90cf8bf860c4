// A schedule as the simulator takes it.
#pragma once

#include "audit/common/program.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::choose {

/// What the reader makes of the schedule's MSCCL XML in Simple, without writing and reading it. For
/// simulation alone: what is written is read and verified as text. Cost: linear.
[[nodiscard]] audit::Program program_of(const Schedule& schedule);

}  // namespace forestcoll::choose
