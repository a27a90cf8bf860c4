// Whether an allreduce is written with trees that branch at switches.
#pragma once

#include <optional>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::choose {

/// The best trees that branch at switches, where they are asked for as `compile` has it, the fabric
/// has such switches, and they are faster than `than` (GB/s). Nothing also where the optimum is not
/// known exactly, or they do not fit exact arithmetic, or there was no time: then `than` stands.
/// Cost: that of `allreduce_optimum` and `pack_branching`.
[[nodiscard]] std::optional<BranchingForest> branching_forest(const Fabric& fabric,
                                                              const CompileOptions& options,
                                                              const Ratio& than);

/// Whether the GPUs of every box are on a switch that copies and combines, which stays in the box.
[[nodiscard]] bool has_boxes_on_able_switches(const Fabric& fabric);

}  // namespace forestcoll::choose
