// The forms of JSON reports: the present one, and the one before it for scripts that read that.
#pragma once

#include <string>

#include "command.hpp"
#include "common/report/report.hpp"

namespace forestcoll::cli {

/// The report, as commands make it, in the form of `version`: 2 leaves it as it is. 1 gives each
/// key that was renamed its former name and place, leaves out what is new, and sets the `version`
/// of the format to the one before; reports whose keys were not renamed stay as they are. Takes
/// time linear in the size of the report.
[[nodiscard]] Json in_json_version(Json report, int version);

/// The report on standard output: one line of JSON, ended, in the form that was asked for.
[[nodiscard]] std::string report_text(Json report, const Console& console);

}  // namespace forestcoll::cli
