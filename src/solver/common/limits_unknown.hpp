// What solvers say that do not know capacities that links share.
#pragma once

#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::solver {

/// E18.
[[nodiscard]] inline Diagnostic limits_unknown() {
  return make_error(Code::E18, "this solver does not know capacities that links share",
                    "ask for the joint optimum, and make schedules on what it takes of the limits");
}

}  // namespace forestcoll::solver
