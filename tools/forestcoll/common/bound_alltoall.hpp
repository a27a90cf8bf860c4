// `forestcoll bound` of a collective along paths (alltoall, scatter, gather), and the line of
// all-to-all in the table of `bound`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// S04: "alltoallv" without a file that says how much each pair has, or one for other collectives.
[[nodiscard]] Expected<void> refuse_misplaced_demand(std::string_view collective,
                                                     const std::string& demand);

/// As written on the command line; empty where not given.
struct AlltoallArguments {
  std::string demand;      ///< a file
  std::string gap;         ///< percent
  std::string time_limit;  ///< seconds

  [[nodiscard]] bool given() const { return !(demand + gap + time_limit).empty(); }
};
/// --demand, --gap and --time-limit.
void add_alltoall_options(CLI::App& command, AlltoallArguments& arguments);

/// The demand of a file, or, where `path` is empty, of blocks. REQUIRES: a root where the
/// collective has one. Errors: those of reading and of `parse_demand`.
[[nodiscard]] Expected<ParsedDemand> read_demand(const Network& network, Collective collective,
                                                 std::optional<Rank> root, const std::string& path);

/// How it is found and reported.
struct AlltoallReporting {
  bool json = false, check = false, quantized = false;
  std::size_t top = 0;
  int threads = 0;          ///< 0: all processors
  std::string target = {};  ///< of schedules; empty: none are made
};

/// Checks a proof by other code. Says what came of it; ExitCode::internal where it does not hold.
[[nodiscard]] ExitCode check_alltoall(const AlltoallProof& proof, const Demand& demand,
                                      const Fabric& fabric, const Console& console);

/// Finds the optimum and writes the report.
[[nodiscard]] ExitCode run_bound_paths(const Fabric& fabric, const ParsedDemand& demand,
                                       const AlltoallArguments& arguments,
                                       const AlltoallReporting& reporting, const Console& console);

/// The optimum where it is a matter of milliseconds, and exact.
[[nodiscard]] std::optional<AlltoallProof> quick_alltoall(const Network& network);

}  // namespace forestcoll::cli
