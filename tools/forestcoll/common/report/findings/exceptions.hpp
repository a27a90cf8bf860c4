// The last resort for exceptions: what ended a command, in words.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "command.hpp"

namespace forestcoll::cli {

/// Says on standard error what ended the command and what helps, and returns its exit code: memory
/// or threads that the machine does not give are `does_not_fit`, anything else is a bug of ours. A
/// remedy names an option only where `has_option` says that the command has it. Needs next to no
/// memory.
[[nodiscard]] ExitCode report_exception(
    const std::exception& error, const std::function<bool(const std::string& option)>& has_option);

}  // namespace forestcoll::cli
