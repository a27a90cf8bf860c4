// Names of collectives on the command line.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace forestcoll::cli {

/// Puts the name of `parse_collective`, "alltoall" or "alltoallv" in place of another spelling of
/// it: "all-reduce", "AllReduce", "all_reduce", "bcast", "all2all". Returns why it is none; else
/// nothing.
[[nodiscard]] std::string resolve_collective(std::string& name);

/// Adds `-c,--collective` for one of them.
CLI::Option* add_collective_option(CLI::App& command, std::string& collective,
                                   const std::string& meaning);
/// For several collectives, with commas or given several times.
CLI::Option* add_collectives_option(CLI::App& command, std::vector<std::string>& collectives,
                                    const std::string& meaning);

}  // namespace forestcoll::cli
