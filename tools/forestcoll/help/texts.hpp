// What helps at a prompt: short help, scripts that complete words, and the values that they offer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "help/command_help.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// The text of a command's `--help`: its common options in brief, the names of the others by their
/// titles, and examples. Empty where no option of the command is a common one; all of them are
/// explained then.
[[nodiscard]] std::string short_help(const CLI::App& command);

/// The names that an option takes, of every command that has it: those of the collectives for
/// "--collective". An operand is asked for with its command before it: "explain CODE". Empty where
/// it takes something else.
[[nodiscard]] std::vector<std::string> offered_values(std::string_view option);

/// A script for bash, zsh or fish: commands, options, the values that are few, else files.
[[nodiscard]] std::string bash_completion(const std::vector<CommandHelp>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandHelp>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<CommandHelp>& commands);

}  // namespace forestcoll::cli
