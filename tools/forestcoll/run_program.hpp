// The program from its words to its exit code.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// What `main` does. Sets up standard streams and signals for this process, and may limit its
/// threads until its end: call once.
[[nodiscard]] int run_program(int argc, char** argv);

/// The same for another program, on the thread of a `Host`, which has the streams and the files:
/// of the process nothing is set up or changed, no progress is shown, and errors and warnings,
/// those of the words too, go to `findings`. Not for `batch`, whose children are this program
/// again. Exceptions of the machine, such as std::bad_alloc, pass through.
[[nodiscard]] int call_program(const std::vector<std::string>& words, Diagnostics& findings);

}  // namespace forestcoll::cli
