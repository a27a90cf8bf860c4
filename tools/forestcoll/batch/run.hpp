// A batch from its beginning to its end.
#pragma once

#include "batch/options.hpp"
#include "command.hpp"

namespace forestcoll::cli::batch {

/// Finds, plans, makes what is not there yet, and reports. The exit code is that of the program;
/// 128 and the signal's number where one ended it early.
[[nodiscard]] int run_batch(const Arguments& arguments, const Console& console);

}  // namespace forestcoll::cli::batch
