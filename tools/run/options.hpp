// The command line: nccl-tests' options, and schedules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "run/data/element.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {

/// How the times of the ranks become one.
enum class Average : std::uint8_t { rank0, mean, least, most };

struct Options {
  std::vector<std::string> files;
  std::vector<std::int64_t> sizes;
  bool has_sizes = false;  ///< whether any of them was asked for
  std::vector<ElementType> types;
  std::vector<ReduceOp> ops;
  int iterations = 20, warmups = 5, checks = 1;
  std::optional<std::int64_t> root;  ///< else that of the file
  Average average = Average::mean;
  Connections connections;
  int timeout = 60;  ///< seconds without a message until a run counts as stuck; 0: for ever
  int nap = 0;       ///< microseconds of sleep between looks for messages; 0: none, wait in MPI
  bool vs_mpi = false;
};

/// What was asked: options, or a text to print (help, version).
struct Request {
  std::optional<Options> options;
  std::string text;
};

/// Errors: X02.
[[nodiscard]] Expected<Request> parse_options(int argc, const char* const* argv);

}  // namespace forestcoll::run
