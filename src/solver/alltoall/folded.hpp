// The part of a fabric in which an all-to-all has a choice.
#pragma once

#include <cstddef>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "solver/alltoall/instance/instance.hpp"

namespace forestcoll::solver::alltoall {

/// A node with a single neighbour has no choice: what it sends and receives crosses the links
/// between the two. It is folded into the neighbour, which sends and receives in its place, and so
/// on: the eight GPUs of a switch become one source. What the links between carry is fixed.
struct Folded {
  Digraph graph;                           ///< of the nodes that are left
  std::vector<ArcId> arcs;                 ///< by arc of the graph: the network's
  std::vector<std::size_t> row;            ///< by arc of the graph: its orbit's row
  std::vector<double> capacity;            ///< by row: of the arcs of the orbit together
  std::vector<std::vector<double>> needs;  ///< by source and node of the graph: what it is to get
  std::vector<std::size_t> source;         ///< by source: its node in the graph
  std::vector<std::size_t> source_of;      ///< by source of the instance: where it is in `source`;
                                           ///< kNone where all of its demand is folded away
  /// The most loaded of the fixed links: its orbit, and what its arcs carry for the whole demand,
  /// and can carry, together.
  std::size_t fixed_orbit = 0;
  double fixed_load = 0, fixed_capacity = 1;

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

/// Demands are those of all members of a source's orbit together.
/// Cost: O(sources · n + m log m).
[[nodiscard]] Folded fold(const Instance& instance);

}  // namespace forestcoll::solver::alltoall
