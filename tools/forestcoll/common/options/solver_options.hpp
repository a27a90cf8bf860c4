// How hard, how long and around what to solve: the options of every command that packs trees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/pack.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// As written on the command line.
struct SolverArguments {
  std::string effort = "default";
  std::string threads;     ///< empty: as many as there are processors
  std::string time_limit;  ///< seconds; empty: none
  std::string max_height;  ///< empty: none
  bool tradeoff = false;
  std::string warm;  ///< a file; empty: none
};
/// --effort, --threads and --time-limit.
void add_effort_options(CLI::App& command, SolverArguments& arguments);
/// --max-height, --tradeoff and --warm.
void add_shape_options(CLI::App& command, SolverArguments& arguments);

/// As resolved.
struct SolverRequest {
  Effort effort = Effort::normal;
  int threads = 1;
  std::optional<double> seconds;  ///< of --time-limit
  std::optional<std::int32_t> max_height;
};
/// Errors (ErrorKind::input): S03 a value that cannot be read, S04 values that do not go together.
[[nodiscard]] Expected<SolverRequest> resolve(const SolverArguments& arguments);

}  // namespace forestcoll::cli
