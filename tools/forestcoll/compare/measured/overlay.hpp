// Measured runs laid over the model.
#pragma once

#include <string>

#include "compare/comparison.hpp"
#include "compare/measured/measured.hpp"
#include "compare/rows/row_maker.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// A measured run, and the row that it goes with.
struct Overlay {
  std::string algorithm, file;
  MeasuredFile measured;
};

/// The FILE of `[ALGORITHM=]FILE`.
[[nodiscard]] std::string measured_path(const RowsRequest& request, const std::string& argument);

/// Reads `[ALGORITHM=]FILE` for the rows of `request` (ours where none is named) on `ranks` GPUs.
/// Errors: those of reading, N01, N02 and N03 (see `read_nccl_tests`), N04 a run of another
/// collective or number of ranks, also where the busbw of its rows shows it, N08 no such row.
[[nodiscard]] Expected<Overlay> read_overlay(const RowsRequest& request, std::int64_t ranks,
                                             const std::string& argument);

/// Has the sizes of the run simulated for its row.
void ask_for_sizes(RowsRequest& request, const Overlay& overlay);

/// Puts the run beside its row, which was simulated at the same sizes.
void add_measured(Comparison& comparison, const Overlay& overlay);

}  // namespace forestcoll::cli
