// What the library calls a setting, as a flag of the program.
#pragma once

#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// The library knows nothing of the command line: its texts name a setting in backquotes, as its
/// options call it, alone or with a value. Here such names become flags: "`max_height`" is
/// --max-height, "`format=forest`" is --format forest. Functions of the library become the commands
/// that do as they do: "`generate()`" is `forestcoll topo gen`. Other words in backquotes stay as
/// they are, and so does what stands in quotation marks, which is somebody's input.
[[nodiscard]] std::string with_flags(std::string_view text);
/// The same in Markdown, where flags keep the backquotes.
[[nodiscard]] std::string with_flags_in_markdown(std::string_view text);
/// In the place, message and remedy, where a command that takes a file is given that of the
/// finding.
[[nodiscard]] Diagnostic with_flags(Diagnostic finding);
[[nodiscard]] Diagnostics with_flags(Diagnostics findings);

/// Whether there is a flag, or a command, for what stands between two backquotes.
[[nodiscard]] bool is_setting(std::string_view name);

}  // namespace forestcoll::cli
