// The manual page of the program.
#pragma once

#include <string>
#include <vector>

#include "help/command_help.hpp"

namespace forestcoll::cli {

/// forestcoll(1) in roff: every command with its operands, options, examples and exit codes.
[[nodiscard]] std::string man_page(const std::vector<CommandHelp>& commands);

}  // namespace forestcoll::cli
