// The whole comparison: the optimum, its proof, and all rows.
#pragma once

#include "command.hpp"
#include "common/fabric.hpp"
#include "compare/comparison.hpp"
#include "compare/rows/row_maker.hpp"

namespace forestcoll::cli {

/// The result does not depend on `request.threads` but for the seconds of its rows. Errors: those
/// of the bound. Where a file is a program of threadblocks, trees are simulated as programs too.
[[nodiscard]] Expected<Comparison> make_comparison(const Fabric& fabric, RowsRequest request,
                                                   const Console& console);

}  // namespace forestcoll::cli
