// Names of collectives on the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/collective.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace forestcoll::cli {

/// An alltoall whose amounts are those of --demand.
inline constexpr std::string_view kUnequalAlltoall = "alltoallv";

/// Puts the name of `parse_collective`, or "alltoallv", in place of another spelling of
/// it: "all-reduce", "AllReduce", "all_reduce", "bcast", "all2all". Returns why it is none; else
/// nothing.
[[nodiscard]] std::string resolve_collective(std::string& name);

/// What such a name means; none: it is none, or empty.
[[nodiscard]] std::optional<Collective> collective_of(std::string_view name);
/// Whether its data goes along paths: alltoall, alltoallv, scatter, gather.
[[nodiscard]] bool has_paths(std::string_view name);
/// Whether runtimes load it as plans of MSCCL++ alone: scatter, gather.
[[nodiscard]] bool is_for_plans_alone(Collective collective);
/// "an alltoall", "a scatter".
[[nodiscard]] std::string with_article(std::string_view name);

/// Adds `-c,--collective` for one of them.
CLI::Option* add_collective_option(CLI::App& command, std::string& collective,
                                   const std::string& meaning);
/// For several collectives, with commas or given several times.
CLI::Option* add_collectives_option(CLI::App& command, std::vector<std::string>& collectives,
                                    const std::string& meaning);

}  // namespace forestcoll::cli
