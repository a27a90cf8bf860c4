// The table of nccl-tests, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/data/memory.hpp"

namespace forestcoll::run {

/// What one placement took.
struct Measurement {
  double seconds = 0;
  std::optional<std::int64_t> wrong;  ///< elements; nothing where they were not checked
};

struct TableRow {
  std::int64_t bytes = 0;     ///< of the whole buffer
  std::int64_t elements = 0;  ///< of one rank's part, where the pattern is divided
  std::string type, op;       ///< "none" where nothing is reduced
  std::int64_t root = -1;
  std::vector<Measurement> placements;
  std::optional<double> mpi_seconds;
};

/// Comments that head the columns, in the form that `compare --measured` reads.
[[nodiscard]] std::string table_heading(const std::vector<Placement>& placements, bool vs_mpi);
/// `pattern` and `ranks` give busbw its factor, as nccl-tests defines it.
[[nodiscard]] std::string table_row(const TableRow& row, Pattern pattern, std::int64_t ranks);
/// busbw / algbw.
[[nodiscard]] double bus_factor(Pattern pattern, std::int64_t ranks);

}  // namespace forestcoll::run
