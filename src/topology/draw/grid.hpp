// Fabrics that are grids: every GPU has a place, and links lead to the next place in one dimension.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "forestcoll/convert.hpp"
#include "forestcoll/topology.hpp"
#include "topology/draw/sheet.hpp"

namespace forestcoll::topology {

/// One to three dimensions of at least two places each.
struct Grid {
  std::vector<std::size_t> dims;
  std::vector<bool> wraps;  ///< by dimension: its ends are linked, as in a torus
  /// By place, the first dimension slowest: the node there; nothing where the fabric has none.
  std::vector<std::optional<NodeId>> node_at;

  [[nodiscard]] std::vector<std::size_t> place(std::size_t cell) const;
  [[nodiscard]] std::size_t cell(const std::vector<std::size_t>& place) const;
  /// The next place in a dimension, around its end where it wraps; nothing at an end.
  [[nodiscard]] std::optional<std::size_t> next(std::size_t cell, std::size_t dim) const;
};

/// The grid that a fabric of GPUs alone is, disabled ones included; nothing where it is none. Names
/// such as "n2x3" are tried as places, and then all ways to lay the links out; either way every
/// link must lead from a place to the next, and all but a few of such links must be there. Cost: a
/// bounded search, O(nodes) where it is found at once.
[[nodiscard]] std::optional<Grid> find_grid(const Topology& topology);

/// The picture of a grid: rows and columns, three dimensions slanting or plane by plane, a ring as
/// a circle. Links around an end leave the picture there. What is disabled or missing is dashed.
[[nodiscard]] Sheet draw_grid(const Grid& grid, const Topology& topology,
                              const DrawOptions& options);

}  // namespace forestcoll::topology
