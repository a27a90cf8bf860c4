// Options that name a file, and others that several commands have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace forestcoll::cli {

/// An option that names a file. Refuses an empty name, as of a variable of a shell that is not set,
/// which would read as no option at all (S03).
CLI::Option* add_file_option(CLI::App& command, const std::string& name, std::string& path,
                             const std::string& what, const std::string& type = "FILE");
/// SCHEDULE, a file of any kind.
void add_schedule_argument(CLI::App& command, std::string& path);
/// --root, of broadcast and reduce.
void add_root_option(CLI::App& command, std::string& root);

}  // namespace forestcoll::cli
