// Names of collectives on the command line, and what those along paths have to move.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace forestcoll::cli {

/// An alltoall whose amounts are those of --demand.
inline constexpr std::string_view kUnequalAlltoall = "alltoallv";

/// "allreduce, allgather, …": what -c takes, without the alltoallv that an alltoall with a demand
/// is.
[[nodiscard]] std::string names_of_collectives();

/// Puts the name of `parse_collective`, or "alltoallv", in place of another spelling of
/// it: "all-reduce", "AllReduce", "all_reduce", "bcast", "a2a". Returns why it is none; else
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

/// S04: "alltoallv" without a file that says how much each pair has, or one for other collectives.
[[nodiscard]] Expected<void> refuse_misplaced_demand(std::string_view collective,
                                                     const std::string& demand);

/// The demand of a file, or, where `path` is empty, of blocks. REQUIRES: a root where the
/// collective has one. Errors: those of reading and of `parse_demand`.
[[nodiscard]] Expected<ParsedDemand> read_demand(const Network& network, Collective collective,
                                                 std::optional<Rank> root, const std::string& path);

}  // namespace forestcoll::cli
