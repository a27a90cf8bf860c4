// Rows of trees that branch at switches.
#pragma once

#include <optional>

#include "common/fabric.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// The best trees that branch at switches, of an allreduce, where the fabric has switches that can
/// and the trees are faster than `than` (GB/s). Nothing also where they are not known exactly.
/// Cost: that of `allreduce_optimum` and `pack_branching`.
[[nodiscard]] std::optional<BranchingForest> faster_branching(const Fabric& fabric,
                                                              Collective collective,
                                                              const Ratio& than);

/// Why such a row has no program for the default target.
[[nodiscard]] Diagnostic no_copies_in_xml();

}  // namespace forestcoll::cli
