// Fabrics without switches, and what whole forests over them begin with.
#pragma once

#include <vector>

#include "forestcoll/forest.hpp"
#include "solver/height/common/tree_rows.hpp"

namespace forestcoll::solver {

/// Do all arcs lead from rank to rank, and take one unit of their resource for each tree?
[[nodiscard]] bool is_direct(const Core& core, const Resources& resources);

/// Is every arc its own resource?
[[nodiscard]] bool is_unshared(const Resources& resources);

/// For each root one tree of the multiplicity of all its trees together, its height 0.
[[nodiscard]] std::vector<Forest::Tree> joined_by_root(const TreeRows& rows);

}  // namespace forestcoll::solver
