// Trees that grow in time steps.
#pragma once

#include <fmt/format.h>

#include <cstddef>

#include "base/check.hpp"
#include "baseline/tree_table.hpp"

namespace forestcoll::baseline {

/// The forest when a tree from each rank spans. `grow(step)` adds what fits into a time step, the
/// first being 0, and returns how many edges these are.
template <class Grow>
ImplicitForest built_in_steps(TreeTable& table, std::size_t ranks, const Grow& grow) {
  std::size_t missing = ranks * (ranks - 1);
  std::size_t steps = 0;
  for (; missing > 0; ++steps) {
    const std::size_t grown = grow(steps);
    FORESTCOLL_CHECK(grown > 0, "all ranks reach one another");
    missing -= grown;
  }
  ImplicitForest implicit = table.take();
  implicit.note = fmt::format("{} time step{}", steps, steps == 1 ? "" : "s");
  return implicit;
}

}  // namespace forestcoll::baseline
