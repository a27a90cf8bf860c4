// The trees of one phase of a forest as the simulator sees them: what is sent after what, and
// where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "audit/forest/file.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"
#include "simulate/fabric/fabric.hpp"

namespace forestcoll::simulate {

/// One tree of the forest with numbers for names: images are spelt out.
struct FlowTree {
  std::int32_t root =
      -1;  ///< a rank; of a switch that is one, another number, the same in all phases
  double multiplicity = 1;
  std::size_t begin = 0, end = 0;  ///< its edges in FlowPhase::edges, parents first
};
/// Data on its way from a rank to the next one, or through switches that copy or combine at once
/// between a rank and several others.
struct FlowEdge {
  std::int32_t worker =
      -1;  ///< the rank that sends (reads through switches); −1: a switch passes on
  std::int32_t above =
      -1;  ///< the edge next to the root, in FlowPhase::edges; −1: that is the root
  std::int32_t route = -1;
};
struct FlowPhase {
  bool inward = false;
  std::vector<FlowTree> trees;
  std::vector<FlowEdge> edges;
};

/// Of a phase.
inline constexpr std::size_t kMaxFlowEdges = 8'000'000;

/// A list of trees, with the images that they stand for. What a rank stores in a switch to be
/// copied goes to all ranks below at once, and so does what is combined for a rank: the edges of a
/// tree that meet at switches are one flow, which loads all their links, echoes too. A switch that
/// is a root passes on what it has summed up. Nothing where there are too many edges. REQUIRES:
/// verify finds the forest to be right on the fabric's topology. Cost: O(edges).
[[nodiscard]] std::optional<FlowPhase> read_phase(const audit::ForestFile& forest,
                                                  const audit::TreeList& list, bool inward,
                                                  const Topology& topology, Fabric& fabric);

}  // namespace forestcoll::simulate
