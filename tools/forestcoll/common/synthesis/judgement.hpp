// What the checker says of a schedule that was made, and what people are to be told of it.
#pragma once

#include <optional>
#include <string>

#include "command.hpp"
#include "common/synthesis/made_schedule.hpp"
#include "common/synthesis/prepare.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// Why the runtime does not itself use LL128 for what is sent; empty where it does.
[[nodiscard]] std::string why_no_ll128(const Compilation& compiled, const Topology& topology);

/// What ends the command where the checker is not content; it is printed.
[[nodiscard]] std::optional<ExitCode> refuse_verdict(const Compilation& compiled,
                                                     const Console& console);

/// Prints the warnings of a schedule.
void warn_of_schedule(const MadeSchedule& made, const PreparedSynthesis& prepared,
                      const Console& console);

}  // namespace forestcoll::cli
