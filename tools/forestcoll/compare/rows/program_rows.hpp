// Rows as the programs that would be written, by size: made for all of them at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "common/report/progress_bar.hpp"
#include "compare/comparison.hpp"
#include "compare/rows/live_rows.hpp"
#include "compare/rows/row_maker.hpp"

namespace forestcoll::cli {

/// The row of the forest of the highest rate, whatever the size.
constexpr const char* kOursByRate = "forestcoll (rate)";

/// What the selectors in use would pick; no algorithms of their own.
[[nodiscard]] bool is_selector(const std::string& name);

/// Every algorithm's fastest program at each of the request's sizes, for any number of elements, as
/// nobody here is asked whether a runtime selects it. `live` is told of those that are known.
/// Errors: N07 too large; those of `fastest_of_each`.
[[nodiscard]] Expected<std::vector<AlgorithmTimes>> time_programs(const Fabric& fabric,
                                                                  const RowsRequest& request,
                                                                  ProgressBar& bar, LiveRows& live);

/// Adds the times of the row's programs. `forestcoll` has those of the fastest algorithm at each
/// size, as `synth --size` writes, and a note that names them.
void add_program_times(ComparedRow& row, const RowsRequest& request, std::int64_t ranks);

/// A row that is programs alone, an exchange or a selector; `row.error` where there are none.
void make_from_programs(ComparedRow& row, const RowsRequest& request, std::int64_t ranks);

}  // namespace forestcoll::cli
