// In which form reports are written.
#pragma once

#include <CLI/CLI.hpp>

namespace forestcoll::cli {

/// Adds `--json-version N`, 1 or 2, which `Console::json_version` has when the command runs. It
/// needs `--json`, which the command has already, unless reports are `always_written`.
void add_json_version_option(CLI::App& command, bool always_written = false);

/// What --json-version says, of a command that has been parsed; the present one where it does not
/// stand.
[[nodiscard]] int asked_json_version(const CLI::App& command);

}  // namespace forestcoll::cli
