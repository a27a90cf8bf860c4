// A schedule as its XML would be read.
#pragma once

#include "audit/common/program.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::fastest {

/// What the reader makes of the schedule's MSCCL XML, without writing and reading it. For
/// simulation alone: what is written is read and verified as text. Cost: linear.
[[nodiscard]] audit::Program program_of(const Schedule& schedule);

}  // namespace forestcoll::fastest
