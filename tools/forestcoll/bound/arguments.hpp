// What `forestcoll bound` is asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "forestcoll/failures.hpp"

namespace forestcoll::cli {

/// Of collectives along paths, as written on the command line; empty where not given.
struct AlltoallArguments {
  std::string demand;      ///< a file
  std::string gap;         ///< percent
  std::string time_limit;  ///< seconds

  [[nodiscard]] bool given() const { return !(demand + gap + time_limit).empty(); }
};

/// Of process groups that run at once, as written on the command line; empty where not given.
struct JobArguments {
  std::optional<std::string> groups;  ///< words, or a file of lists
  std::vector<std::string> at_once;   ///< operations
  std::string job;                    ///< a file
  std::string mesh;
  std::string mesh_order;

  [[nodiscard]] bool given() const { return groups || !at_once.empty() || !job.empty(); }
};

struct BoundArguments {
  std::string topology;
  std::string collective;  ///< empty: all that need no root, and with a root all five
  std::string root;
  std::string target;  ///< of schedules; empty: none are made
  bool json = false;
  bool check = false;
  bool whatif = false;
  std::size_t top = 0;
  ReadingOptions reading;
  Failures failures;
  AlltoallArguments alltoall;
  JobArguments job;
  int threads = 0;  ///< 0: all processors
};

}  // namespace forestcoll::cli
