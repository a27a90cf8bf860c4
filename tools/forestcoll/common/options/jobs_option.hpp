// -j: one option, whatever a command's threads share.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace forestcoll::cli {

inline constexpr int kMostThreads = 1024;

/// Adds `-j,--jobs,--threads`, a number from 1 to `kMostThreads`. `meaning` is for --help.
void add_jobs_option(CLI::App& command, int& threads, const std::string& meaning);

/// The same for a command whose work is not divided, so that -j may stand in every command line.
void add_jobs_option(CLI::App& command);

/// What -j says, of a command that has been parsed; none where it does not stand, is no such
/// number, or counts something else, as it does for batch.
[[nodiscard]] std::optional<int> asked_threads(const CLI::App& command);

}  // namespace forestcoll::cli
