// Whether a collective is written with trees that branch at switches.
#pragma once

#include <optional>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::choose {

/// Trees that branch at switches, and what is known of all that do.
struct InNetwork {
  std::optional<BranchingForest> forest;
  /// GB/s: what nothing exceeds, and what trees reach. None where nothing branches.
  std::optional<Ratio> at_most = {}, reached = {};
};

/// The best trees that branch at switches, where they may be written as `compile` has it, the
/// fabric has such switches, and they are better than those of `without`: faster, or of a broadcast
/// or reduce as fast with fewer messages in turn. No trees also where it is not known what they
/// reach, or there was no time: then `without` stands. Cost: that of `allreduce_optimum` and
/// `pack_branching`, or `branching_from_root`.
[[nodiscard]] InNetwork branching_forest(const Fabric& fabric, const CompileOptions& options,
                                         const CollectiveForest& without);

/// R02 where `options.previous_branching` is of another collective, root or ranks.
[[nodiscard]] Expected<void> refuse_previous(const Fabric& fabric, const CompileOptions& options);

/// `chosen`, where trees that branch may be faster but none that are were made: its optimum is then
/// theirs. XML and plans have an optimum of their own, of what they can say. Where
/// `options.previous_branching` was to be kept, `chosen.why` says that nothing is.
void update_optimum(const InNetwork& in_network, const CompileOptions& options,
                    ChosenForest& chosen);

/// Whether the GPUs of every box are on a switch that copies and combines, which stays in the box.
[[nodiscard]] bool has_boxes_on_able_switches(const Fabric& fabric);

}  // namespace forestcoll::choose
