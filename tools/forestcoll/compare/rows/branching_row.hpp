// Rows of trees that branch at switches.
#pragma once

#include <optional>
#include <string>

#include "common/fabric.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"

namespace forestcoll::cli {

/// The best trees that branch at switches, where the fabric has switches that can and the trees are
/// better than those of `without`: faster, or of a broadcast or reduce as fast with fewer messages
/// in turn. Nothing also where they are not known exactly.
/// Cost: that of `allreduce_optimum` and `pack_branching`, or `branching_from_root`.
[[nodiscard]] std::optional<BranchingForest> better_branching(const Fabric& fabric,
                                                              const CollectiveForest& without);

/// What is to be known of such a row, in words.
[[nodiscard]] std::string without_switches(const CollectiveForest& without);

/// Why such a row has no program for the default target.
[[nodiscard]] Diagnostic no_copies_in_xml();

}  // namespace forestcoll::cli
