// What `forestcoll bound` is asked for.
#pragma once

#include <cstddef>
#include <string>

#include "common/fabric.hpp"
#include "common/job/request.hpp"
#include "forestcoll/failures.hpp"

namespace forestcoll::cli {

/// Of collectives along paths, as written on the command line; empty where not given.
struct AlltoallArguments {
  std::string demand;      ///< a file
  std::string gap;         ///< percent
  std::string time_limit;  ///< seconds

  [[nodiscard]] bool given() const { return !(demand + gap + time_limit).empty(); }
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
  bool place = false;  ///< of the job's mesh: all orders of its axes
  std::string hosts;   ///< of the best placement: a file to write; empty: none
  std::string html;    ///< of a job: a page to write; empty: none
  int threads = 0;     ///< 0: all processors
};

}  // namespace forestcoll::cli
