// Scripts that complete the program's words at a shell's prompt.
#pragma once

#include <string>
#include <vector>

#include "help/command_help.hpp"

namespace forestcoll::cli {

/// A script for bash, zsh or fish: commands, options, the values that are few, else files.
[[nodiscard]] std::string bash_completion(const std::vector<CommandHelp>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandHelp>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<CommandHelp>& commands);

}  // namespace forestcoll::cli
