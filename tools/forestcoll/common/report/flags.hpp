// What the library calls a setting, as a flag of the program.
#pragma once

#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// The library knows nothing of the command line: its texts name settings as its options call them.
/// Here each becomes a flag, "`max_height`" --max-height and "`format=forest`" --format forest, and
/// a function the command that does as it does.
[[nodiscard]] std::string with_flags(std::string_view text);
/// The same in Markdown, where flags keep the backquotes.
[[nodiscard]] std::string with_flags_in_markdown(std::string_view text);
/// In the place, message and remedy, where a command that takes a file is given that of the
/// finding.
[[nodiscard]] Diagnostic with_flags(Diagnostic finding);
[[nodiscard]] Diagnostics with_flags(Diagnostics findings);

}  // namespace forestcoll::cli
