// Fabrics without switches.
#pragma once

#include "solver/height/common/tree_rows.hpp"

namespace forestcoll::solver {

/// Do all arcs lead from rank to rank, and take one unit of their resource for each tree?
[[nodiscard]] bool is_direct(const Core& core, const Resources& resources);

/// Is every arc its own resource?
[[nodiscard]] bool is_unshared(const Resources& resources);

}  // namespace forestcoll::solver
