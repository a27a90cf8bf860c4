// The forms of JSON reports: the present one, and the one before it for scripts that read that.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "command.hpp"
#include "common/report/report.hpp"

namespace forestcoll::cli {

/// Adds `--json-version N`, 1 or 2, which `Console::json_version` has when the command runs. It
/// needs `--json`, which the command has already, unless reports are `always_written`.
void add_json_version_option(CLI::App& command, bool always_written = false);

/// What --json-version says, of a command that has been parsed; the present one where it does not
/// stand.
[[nodiscard]] int asked_json_version(const CLI::App& command);

/// The report, as commands make it, in the form of `version`: 2 leaves it as it is. 1 gives each
/// key that was renamed its former name and place, leaves out what is new, and sets the `version`
/// of the format to the one before; reports whose keys were not renamed stay as they are. Takes
/// time linear in the size of the report.
[[nodiscard]] Json in_json_version(Json report, int version);

/// The report on standard output: one line of JSON, ended, in the form that was asked for.
[[nodiscard]] std::string report_text(Json report, const Console& console);

}  // namespace forestcoll::cli
