// The program from its words to its exit code.
#pragma once

namespace forestcoll::cli {

/// What `main` does. Sets up standard streams and signals for this process, and may limit its
/// threads until its end: call once.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace forestcoll::cli
