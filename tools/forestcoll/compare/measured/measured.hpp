// What nccl-tests and rccl-tests print, read back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {

struct RunOrigin {
  std::string text = {};  ///< "SimGrid"; empty: nothing is said, as by nccl-tests on GPUs
  double slowdown = 1;    ///< of its links beside the fabric's: times are divided by it
};

/// Of a line such as "# origin: an emulated fabric, 160000 times slower"; nothing of others.
[[nodiscard]] std::optional<RunOrigin> origin_in(std::string_view line);

/// What stands before the name of the run's file: "Measured", "SimGrid", "MPI on this machine",
/// "Measured on an emulated fabric (its times divided by 160000)".
[[nodiscard]] std::string in_words(const RunOrigin& origin);

/// A row of such an output.
struct MeasuredRow {
  SimulatedTime time;  ///< bytes are whole; without busbw, which only the collective tells
  double printed_algbw = 0, printed_busbw = 0;
  std::size_t line = 0;
  bool wrong = false;  ///< the program says that results were
};

/// One of the two column groups of such an output.
struct MeasuredColumn {
  std::string placement;  ///< "out-of-place" or "in-place"
  std::vector<MeasuredRow> rows;
};

struct MeasuredFile {
  std::string collective;  ///< where the output names the program: "allreduce"
  RunOrigin origin;
  std::optional<std::int64_t> ranks;    ///< where it lists them
  std::optional<bool> reduces;          ///< where it has a column of the reduction
  std::vector<MeasuredColumn> columns;  ///< with a time in every row, in the order of the file
  Diagnostics warnings;                 ///< N05: results that were wrong
};

/// Reads the output of all_reduce_perf, all_gather_perf, reduce_scatter_perf, broadcast_perf,
/// reduce_perf and alltoall_perf, of any version, and of forestcoll-run: the columns are found by
/// their heading, a prefix that mpirun puts before every line is skipped, and so is what other
/// programs print between the lines. Results were wrong where "#wrong" is above 0, or in older
/// versions "error" above what those let pass. Errors, with the line: N01 there is no table, N02 a
/// row that does not fit its heading, N03 a number that is none, or a bandwidth that is not size /
/// time. Cost: linear.
[[nodiscard]] Expected<MeasuredFile> read_nccl_tests(std::string_view text,
                                                     const std::string& file);

}  // namespace forestcoll::cli
