// What is wrong with the words of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "command.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// The command whose words come last: `topo show` of `forestcoll topo show`.
[[nodiscard]] const CLI::App& innermost_command(const CLI::App& program);

/// The error of words that the parser refuses, in our words: S03 the value of an option, S04
/// options that exclude each other, S05 what is unknown or missing, or the code that the check of
/// an option names. The remedy is the help of the command.
[[nodiscard]] Diagnostic usage_error(const CLI::App& program, const CLI::ParseError& error,
                                     const std::vector<Command>& commands);

}  // namespace forestcoll::cli
