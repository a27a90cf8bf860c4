// `--help`: what most people want of a command, on one screen.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// The text of a command's `--help`: its common options in brief, the names of the others by their
/// titles, and examples. Empty where no option of the command is a common one; all of them are
/// explained then.
[[nodiscard]] std::string short_help(const CLI::App& command);

}  // namespace forestcoll::cli
