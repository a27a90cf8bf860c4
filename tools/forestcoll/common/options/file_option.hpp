// Options that name a file, and others that several commands have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace forestcoll::cli {

/// Refuses the empty name (S03), which a variable of a shell that is not set leaves: it would read
/// as no option at all.
[[nodiscard]] CLI::Validator file_name();
/// An option that names a file, which `file_name` checks.
CLI::Option* add_file_option(CLI::App& command, const std::string& name, std::string& path,
                             const std::string& what, const std::string& type = "FILE");
/// SCHEDULE, a file of any kind.
void add_schedule_argument(CLI::App& command, std::string& path);
/// --root, of the collectives that have one.
void add_root_option(CLI::App& command, std::string& root);

}  // namespace forestcoll::cli
