// Names of collectives on the command line.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace forestcoll::cli {

/// Puts the name of `parse_collective` in place of another spelling of it: "all-reduce",
/// "AllReduce", "all_reduce", "bcast". Returns why it is none, which says of "all2all" which
/// commands take it; else nothing.
[[nodiscard]] std::string understand_collective(std::string& name);

/// The same where all-to-all is known, too: "alltoall" of "all2all", "alltoallv" of "AllToAllv".
[[nodiscard]] std::string understand_collective_or_alltoall(std::string& name);

/// Adds `-c,--collective` for one of them.
CLI::Option* add_collective_option(CLI::App& command, std::string& collective,
                                   const std::string& meaning);
/// The same where all-to-all is known, too.
CLI::Option* add_collective_or_alltoall_option(CLI::App& command, std::string& collective,
                                               const std::string& meaning);
/// For several collectives, with commas or given several times.
CLI::Option* add_collectives_option(CLI::App& command, std::vector<std::string>& collectives,
                                    const std::string& meaning);

}  // namespace forestcoll::cli
